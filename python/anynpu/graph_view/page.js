// SPDX-License-Identifier: Apache-2.0
// The page's script: graphs on canvases, with search, details and colours. No library, no network.
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);
const dark = matchMedia('(prefers-color-scheme: dark)');
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// ---- Colours: by type of operator, time, device, precision, or what a pass changed.
const FAMILIES = [[/^(Data|NetOutput|Input|Output)$/, 210, 'inputs and outputs'],
  [/Conv|Bottleneck/, 28, 'convolutions'],
  [/MatMul|Gemm|Attention|Linear|LSTM|GRU|Einsum/, 350, 'matrix products'],
  [/Norm|Softmax|Reduce|Pool/, 275, 'normalisation, reduction'],
  [/^(Cast|Reshape|Transpose|Concat|Split|Slice|Gather|Squeeze|Unsqueeze|Expand|Pad|Flatten)/, 190,
   'data movement'], [/^(If|Loop|Scan)$/, 60, 'control flow']];
const CHANGES = { new: [140, 'new'], gone: [0, 'gone'], changed: [45, 'changed'], same: [null, 'same'] };
function shade(hue, strength = 1) {
  if (hue === null) return dark.matches ? '#334155' : '#eceff3';
  return dark.matches ? `hsl(${hue} ${45 * strength + 10}% ${22 + 14 * strength}%)`
    : `hsl(${hue} ${70 * strength}% ${96 - 12 * strength}%)`;
}
// A hue of its own for each word.
const hues = new Map();
function hueOf(word) {
  if (!word) return null;
  if (!hues.has(word)) hues.set(word, (hues.size * 137 + 205) % 360);
  return hues.get(word);
}
const SCHEMES = {
  type: { has: () => true, of: op => {
    const family = FAMILIES.find(([kind]) => kind.test(op.type));
    return [family ? family[1] : 115, 1, family ? family[2] : 'others'];
  } },
  time: { has: op => op.time, of: (op, most) => {
    if (!op.time) return [null, 1, 'no time in the profile'];
    const share = op.time.total / most;
    return [60 - 60 * Math.sqrt(share), 0.25 + 0.9 * Math.sqrt(share),
            share > 0.5 ? 'most of the slowest' : share > 0.1 ? 'over a tenth of it' : 'less'];
  } },
  device: { has: op => op.device, of: op => [hueOf(op.device), 1, op.device || 'not known'] },
  precision: { has: op => op.precision, of: op => [hueOf(op.precision), 1,
                                                  op.precision || 'not known'] },
  change: { has: op => op.change, of: op => {
    const [hue, words] = CHANGES[op.change] || [null, ''];
    return [hue, 1, words];
  } },
};
const every = data.models.flatMap(m => m.ops);
const slowest = every.reduce((n, op) => Math.max(n, op.time ? op.time.total : 0), 1e-9);
let scheme = every.some(op => op.change) ? 'change' : every.some(op => op.time) ? 'time' : 'type';
for (const name of Object.keys(SCHEMES)) {
  if (every.some(SCHEMES[name].has)) $('colour').add(new Option(name, name));
}
$('colour').value = scheme;
$('colour').onchange = e => { scheme = e.target.value; show(); };

// ---- A pane: one model, of which one view (the graph, or a group of it) is shown.
let words = '', open = [];
class Pane {
  constructor(model, canvas, caption) {
    this.model = model;
    this.canvas = canvas;
    this.caption = caption;
    this.views = new Map(model.views.map(v => [v.name, v]));
    this.at = { x: 0, y: 0, zoom: 1 };
    this.chosen = null;
    this.go(model.opens);
    this.listen();
  }
  go(name) {
    this.view = this.views.get(name) || this.model.views[0];
    this.fit();
  }
  fit() {
    const w = this.canvas.clientWidth || 800, h = this.canvas.clientHeight || 600, v = this.view;
    const whole = Math.min(w / (v.width + 40), h / (v.height + 60));
    const zoom = Math.min(1.2, Math.max(whole, Math.min(0.45, w / (v.width + 40))));
    this.at = { zoom, x: v.width / 2 - w / 2 / zoom, y: whole < zoom ? -40 / zoom
      : v.height / 2 - h / 2 / zoom };
    this.draw();
  }
  place(box) {  // in the middle
    const zoom = Math.max(this.at.zoom, 0.8);
    this.at = { zoom, x: box.x + box.w / 2 - this.canvas.clientWidth / 2 / zoom,
                y: box.y + box.h / 2 - this.canvas.clientHeight / 2 / zoom };
    this.draw();
  }
  draw() {
    if (!this.pending) {
      this.pending = true;
      requestAnimationFrame(() => { this.pending = false; this.paint(); });
    }
  }
  paint() {
    const canvas = this.canvas, ratio = window.devicePixelRatio || 1;
    const w = canvas.clientWidth, h = canvas.clientHeight, { x, y, zoom } = this.at;
    canvas.width = w * ratio;
    canvas.height = h * ratio;
    const g = canvas.getContext('2d');
    g.scale(ratio * zoom, ratio * zoom);
    g.translate(-x, -y);
    const seen = [x - 5, y - 5, x + w / zoom + 5, y + h / zoom + 5];
    this.lines(g, seen, zoom);
    g.textBaseline = 'middle';
    for (const box of this.view.boxes) {
      if (box.x < seen[2] && box.x + box.w > seen[0] && box.y < seen[3] && box.y + box.h > seen[1])
        this.box(g, box, zoom);
    }
    window.painted = (window.painted || 0) + 1;
  }
  lines(g, seen, zoom) {
    const soft = css('--soft'), mark = css('--mark');
    const tied = this.chosen === null ? -1 : this.view.boxes.indexOf(this.chosen);
    for (const line of this.view.lines) {
      const p = line.path;
      if (!p.length) continue;
      if (!line.span) {
        const xs = p.filter((_, i) => i % 2 === 0), ys = p.filter((_, i) => i % 2 === 1);
        line.span = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
      }
      const s = line.span;
      if (s[0] > seen[2] || s[2] < seen[0] || s[1] > seen[3] || s[3] < seen[1]) continue;
      const near = tied >= 0 && (line.from === tied || line.to === tied);
      g.strokeStyle = g.fillStyle = near ? mark : soft;
      g.lineWidth = (near ? 2 : 1) / Math.max(Math.min(zoom, 1), 0.5);
      g.beginPath();
      g.moveTo(p[0], p[1]);
      for (let i = 2; i + 5 < p.length; i += 6)
        g.bezierCurveTo(p[i], p[i + 1], p[i + 2], p[i + 3], p[i + 4], p[i + 5]);
      g.stroke();
      if (zoom > 0.15) this.head(g, p);
    }
  }
  head(g, p) {
    const n = p.length, x = p[n - 2], y = p[n - 1];
    let i = n - 4;
    while (i > 0 && Math.hypot(x - p[i], y - p[i + 1]) < 0.5) i -= 2;
    const a = Math.atan2(y - p[i + 1], x - p[i]);
    g.beginPath();
    g.moveTo(x, y);
    g.lineTo(x - 8 * Math.cos(a - 0.4), y - 8 * Math.sin(a - 0.4));
    g.lineTo(x - 8 * Math.cos(a + 0.4), y - 8 * Math.sin(a + 0.4));
    g.fill();
  }
  matches(box) {
    if (!words) return true;
    const op = this.model.ops[box.op];
    const text = box.group !== undefined ? this.members(box.group).map(o => `${o.name} ${o.type}`).join(' ')
      : `${op.name} ${op.type}`;
    return text.toLowerCase().includes(words);
  }
  members(group) {
    const inside = name => name.startsWith(group) && '/.'.includes(name[group.length]);
    return this.model.ops.filter(op => inside(op.name.replace(/^[/.]+/, '')));
  }
  look(box) {
    if (box.group === undefined) return SCHEMES[scheme].of(this.model.ops[box.op], slowest);
    if (scheme === 'time') {
      const total = this.members(box.group).reduce((n, op) => n + (op.time ? op.time.total : 0), 0);
      return SCHEMES.time.of({ time: total ? { total: Math.min(total, slowest) } : null }, slowest);
    }
    const inside = this.members(box.group).map(op => SCHEMES[scheme].of(op, slowest));
    if (scheme === 'change') return inside.find(l => l[2] !== 'same') || inside[0];
    return inside.every(l => l[2] === inside[0][2]) ? inside[0] : [null, 1, 'a group'];
  }
  box(g, box, zoom) {
    const [hue, strength] = this.look(box), ink = css('--ink');
    g.globalAlpha = this.matches(box) ? (box.outside ? 0.45 : 1) : 0.15;
    g.fillStyle = shade(hue, strength);
    g.strokeStyle = this.chosen === box ? css('--mark') : css('--soft');
    g.lineWidth = this.chosen === box ? 3 : box.group !== undefined ? 1.8 : 1;
    g.beginPath();
    g.roundRect(box.x, box.y, box.w, box.h, box.group !== undefined ? 10 : 5);
    g.fill();
    g.stroke();
    if (zoom > 0.25) this.caption_of(g, box, ink);
    g.globalAlpha = 1;
  }
  caption_of(g, box, ink) {
    const middle = box.x + box.w / 2, room = Math.floor((box.w - 8) / 7.1);
    g.textAlign = 'center';
    g.fillStyle = ink;
    g.font = 'bold 12px system-ui, sans-serif';
    if (box.group !== undefined) {
      g.fillText(short(box.group.split('/').pop(), room), middle, box.y + 14);
      g.font = '11px system-ui, sans-serif';
      g.fillText(`${box.count} operators`, middle, box.y + 30);
      return;
    }
    const op = this.model.ops[box.op];
    const name = op.name.split('/').pop(), type = op.type;
    g.fillText(short(name === type || room < type.length + 5 ? type : `${type}  ${name}`, room), middle,
               box.y + 11);
    g.font = '10px system-ui, sans-serif';
    const shape = (op.outputs[0] || op.inputs[0] || {});
    const under = scheme === 'time' && op.time ? `${op.time.mean.toFixed(1)} us`
      : shape.type ? `${shape.type} ${shape.shape}` : '';
    g.fillText(short(under, room + 4), middle, box.y + 25);
  }
  pick(e) {
    const x = this.at.x + e.offsetX / this.at.zoom, y = this.at.y + e.offsetY / this.at.zoom;
    return this.view.boxes.find(b => x >= b.x && x <= b.x + b.w && y >= b.y && y <= b.y + b.h) || null;
  }
  listen() {
    let drag = null;
    this.canvas.addEventListener('wheel', e => {
      e.preventDefault();
      const factor = Math.exp(-Math.sign(e.deltaY) * 0.18), at = this.at;
      const zoom = Math.min(4, Math.max(0.01, at.zoom * factor));
      this.at = { zoom, x: at.x + e.offsetX / at.zoom - e.offsetX / zoom,
                  y: at.y + e.offsetY / at.zoom - e.offsetY / zoom };
      this.draw();
    }, { passive: false });
    this.canvas.addEventListener('mousedown', e => {
      drag = { x: e.clientX, y: e.clientY, at: this.at, moved: 0 };
    });
    window.addEventListener('mousemove', e => {
      if (!drag) return;
      drag.moved += Math.abs(e.movementX) + Math.abs(e.movementY);
      this.at = { ...drag.at, x: drag.at.x - (e.clientX - drag.x) / drag.at.zoom,
                  y: drag.at.y - (e.clientY - drag.y) / drag.at.zoom };
      this.draw();
    });
    window.addEventListener('mouseup', e => {
      const click = drag && drag.moved < 4 && e.target === this.canvas;
      drag = null;
      if (click) choose(this, this.pick(e));
    });
    this.canvas.addEventListener('dblclick', e => {
      const box = this.pick(e);
      if (box) enter(this, box);
    });
  }
}
const short = (text, room) => text.length <= room ? text : '…' + text.slice(1 - room);

// ---- Groups: into them, and back.
function enter(pane, box) {
  const name = box.group !== undefined ? box.group : `body of ${pane.model.ops[box.op].name}`;
  if (!pane.views.has(name)) return;
  open.push({ pane, back: pane.view.name });
  pane.chosen = null;
  pane.go(name);
  show();
}
function back() {
  const last = open.pop();
  if (last) { last.pane.chosen = null; last.pane.go(last.back); show(); }
}
window.addEventListener('keydown', e => { if (e.key === 'Escape') back(); });
$('fold').onclick = () => {
  const whole = panes[0].view.name === '*';
  open = [];
  for (const pane of panes) { pane.chosen = null; pane.go(whole ? '' : '*'); }
  show();
};
$('fit').onclick = () => { open = []; panes.forEach(p => p.go(p.view.name === '*' ? '*' : '')); show(); };

// ---- Search: Enter goes from one to the next, into groups if needed.
let hits = [], hit = -1;
$('find').oninput = e => {
  words = e.target.value.trim().toLowerCase();
  hits = words ? panes.flatMap(pane => pane.model.ops.filter(
    op => `${op.name} ${op.type}`.toLowerCase().includes(words)).map(op => ({ pane, op }))) : [];
  hit = -1;
  show();
};
$('find').onkeydown = e => {
  if (e.key !== 'Enter' || !hits.length) return;
  hit = (hit + 1) % hits.length;
  const { pane, op } = hits[hit], index = pane.model.ops.indexOf(op);
  const views = [pane.view, ...pane.model.views];
  const view = views.find(v => v.boxes.some(b => b.op === index && !b.outside));
  if (!view) return;
  if (view !== pane.view) { open.push({ pane, back: pane.view.name }); pane.go(view.name); }
  const box = view.boxes.find(b => b.op === index && !b.outside);
  choose(pane, box);
  pane.place(box);
};

// ---- Details of what was clicked.
function element(tag, text, parent) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}
function rows(title, entries, into) {
  if (!entries.length) return;
  element('h3', title, into);
  const table = element('table', undefined, into);
  for (const [key, value, extra] of entries) {
    const tr = element('tr', undefined, table);
    element('td', key, tr);
    const td = element('td', value, tr);
    if (extra) element('small', extra, td);
  }
}
function choose(pane, box) {
  panes.forEach(p => { p.chosen = p === pane ? box : null; });
  const into = $('details');
  into.replaceChildren();
  if (!box) { legend(); show(); return; }
  if (box.group !== undefined) {
    const inside = pane.members(box.group);
    element('h2', box.group, into);
    const total = inside.reduce((n, op) => n + (op.time ? op.time.total : 0), 0);
    const kinds = new Map();
    inside.forEach(op => kinds.set(op.type, (kinds.get(op.type) || 0) + 1));
    rows('group', [['operators', `${inside.length}`],
                   ...(total ? [['time', `${total.toFixed(1)} us in all`]] : [])], into);
    rows('types', [...kinds].sort((a, b) => b[1] - a[1]).map(([k, n]) => [k, `${n}`]), into);
    const link = element('a', 'open (double click)', into);
    link.onclick = () => enter(pane, box);
    show();
    return;
  }
  const op = pane.model.ops[box.op];
  element('h2', op.name, into);
  element('div', (op.domain ? op.domain + '::' : '') + op.type, into).className = 'hint';
  const tensor = t => [t.name || '-', `${t.type}  ${t.shape}`, t.weights];
  rows('inputs', op.inputs.map(tensor), into);
  rows('outputs', op.outputs.map(tensor), into);
  rows('attributes', Object.entries(op.attrs), into);
  const run = [];
  if (op.kernel) run.push(['kernel', op.kernel]);
  if (op.device) run.push(['runs on', op.device]);
  if (op.change) run.push(['compared', op.change]);
  rows('execution', run, into);
  if (op.time) {
    rows('time', [['mean', `${op.time.mean.toFixed(2)} us`], ['p99', `${op.time.p99.toFixed(2)} us`],
                  ['runs', `${op.time.count}`], ['in all', `${op.time.total.toFixed(1)} us`]], into);
  }
  if (pane.views.has(`body of ${op.name}`)) {
    const link = element('a', 'open its body (double click)', into);
    link.onclick = () => enter(pane, box);
  }
  show();
}
function legend() {
  const into = $('details'), seen = new Map();
  for (const op of every) {
    const [hue, strength, label] = SCHEMES[scheme].of(op, slowest);
    const entry = seen.get(label) || { hue, strength, count: 0 };
    entry.count += 1;
    seen.set(label, entry);
  }
  into.replaceChildren();
  const hint = element('p', 'Click an operator: its attributes, tensors, weights and kernel. ' +
    'Wheel: zoom. Drag: move. Double click on a group: what is in it. Esc: back.', into);
  hint.className = 'hint';
  element('h3', `colours: ${scheme}`, into);
  const box = element('div', undefined, into);
  box.className = 'legend';
  for (const [label, entry] of seen) {
    const one = element('span', undefined, box), patch = element('i', undefined, one);
    patch.style.background = shade(entry.hue, entry.strength);
    one.append(`${label} (${entry.count})`);
  }
}

// ---- All of it.
function show() {
  const path = $('path');
  path.replaceChildren();
  if (open.length) {
    const link = element('a', 'back', path);
    link.onclick = back;
    element('span', ' ' + open[open.length - 1].pane.view.name, path);
  }
  $('fold').hidden = !panes[0].views.has('*');
  $('fold').textContent = panes[0].view.name === '*' ? 'fold' : 'unfold';
  const count = panes.map(p => p.model.ops.length.toLocaleString('en')).join(' and ');
  $('facts').textContent = `${count} operators` + (words ? `, ${hits.length} found` : '');
  if (!panes.some(p => p.chosen)) legend();
  panes.forEach(p => p.draw());
}
if (data.models.length > 1) {
  $('second').hidden = false;
  data.models.forEach((m, i) => { $(`caption${i}`).textContent = (i ? 'after: ' : 'before: ') + m.title; });
}
const panes = data.models.map((m, i) => new Pane(m, $(`canvas${i}`), $(`caption${i}`)));
window.panes = panes;
window.addEventListener('resize', () => panes.forEach(p => p.draw()));
dark.addEventListener('change', show);
show();
window.ready = true;
