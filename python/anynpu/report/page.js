// SPDX-License-Identifier: Apache-2.0
// The page's script: a timeline on a canvas, tables, bars and charts. No library, no network.
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);
const ROW = 18, GAP = 4, HEAD = 22, LEFT = 190;

function time(ns) {
  if (ns >= 1e9) return (ns / 1e9).toFixed(3) + ' s';
  if (ns >= 1e6) return (ns / 1e6).toFixed(3) + ' ms';
  return ns >= 1e3 ? (ns / 1e3).toFixed(3) + ' us' : ns.toFixed(0) + ' ns';
}
// As few decimals as steps of the axis need.
function tick(ns, step) {
  const [unit, word] = view.to >= 1e9 ? [1e9, 's'] : view.to >= 1e6 ? [1e6, 'ms']
    : view.to >= 1e3 ? [1e3, 'us'] : [1, 'ns'];
  const decimals = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
  return `${(ns / unit).toFixed(decimals)} ${word}`;
}
function bytes(n) {
  for (const unit of ['B', 'KB', 'MB', 'GB']) {
    if (n < 1024 || unit === 'GB') return n.toFixed(unit === 'B' ? 0 : 1) + ' ' + unit;
    n /= 1024;
  }
}

// ---- Slices of the lanes, with the depth of each.
function decode(lane) {
  const text = atob(lane.columns), raw = new Uint8Array(text.length), n = lane.count;
  for (let i = 0; i < raw.length; ++i) raw[i] = text.charCodeAt(i);
  lane.t = new Float64Array(raw.buffer, 0, n);
  lane.d = new Float32Array(raw.buffer, 8 * n, n);
  lane.name = new Uint32Array(raw.buffer, 12 * n, n);
  lane.link = new Uint32Array(raw.buffer, 16 * n, n);
  lane.columns = null;
  lane.depth = new Uint8Array(n);
  lane.rows = 1;
  lane.longest = 0;
  const open = [];
  for (let i = 0; i < n; ++i) {
    // Durations are rounded to 32 bits: a child may seem to end a little after its parent.
    while (open.length && open[open.length - 1] <= lane.t[i]) open.pop();
    lane.depth[i] = Math.min(open.length, 30);
    lane.rows = Math.max(lane.rows, lane.depth[i] + 1);
    lane.longest = Math.max(lane.longest, lane.d[i]);
    open.push(lane.t[i] + lane.d[i] * (1 - 1e-6));
  }
}
data.lanes.forEach(decode);

// ---- Timeline. The canvas has the height of the box; the box scrolls over the height of all lanes.
const canvas = $('canvas'), box = $('timeline'), view = { from: 0, to: data.wall || 1 };
let selected = null, found = null;
function colour(name) {
  return `hsl(${(name * 137) % 360} 55% ${name % 2 ? 52 : 60}%)`;
}
function place() {
  let y = HEAD, group = null;
  for (const lane of data.lanes) {
    if (lane.group !== group) { lane.first = true; y += HEAD; group = lane.group; }
    lane.y = y;
    y += lane.rows * ROW + GAP;
  }
  return y + 6;
}
const height = place();
function lower(lane, t) {
  let a = 0, b = lane.count;
  while (a < b) { const m = (a + b) >> 1; if (lane.t[m] < t) a = m + 1; else b = m; }
  return a;
}
function drawLane(g, lane, scale, width) {
  const last = new Float64Array(lane.rows).fill(-1);
  const end = lower(lane, view.to);
  for (let i = lower(lane, view.from - lane.longest); i < end; ++i) {
    const x1 = LEFT + (lane.t[i] + lane.d[i] - view.from) * scale;
    if (x1 < LEFT) continue;
    const row = lane.depth[i];
    if (x1 <= last[row]) continue;  // hidden behind what is drawn in this pixel
    const x0 = Math.max(LEFT, LEFT + (lane.t[i] - view.from) * scale);
    const w = Math.max(Math.min(x1, width) - x0, 1);
    const chosen = selected && selected.lane === lane && selected.i === i;
    const hit = found === null || found.has(lane.name[i]);
    g.globalAlpha = hit ? 1 : 0.15;
    g.fillStyle = chosen ? '#111827' : colour(lane.name[i]);
    g.fillRect(x0, lane.y + row * ROW, w, ROW - 2);
    if (w > 30) {
      g.fillStyle = '#fff';
      g.fillText(data.names[lane.name[i]].slice(0, Math.floor(w / 6)), x0 + 3,
                 lane.y + row * ROW + 12);
    }
    last[row] = Math.floor(x0) + Math.max(w, 1) - 0.5;
  }
  g.globalAlpha = 1;
}
function partners(pick) {
  const link = pick.lane.link[pick.i];
  if (!link) return [];
  const out = [];
  for (const lane of data.lanes) {
    for (let i = 0; i < lane.count; ++i) {
      if (lane.link[i] === link && !(lane === pick.lane && i === pick.i)) out.push({ lane, i });
      if (out.length > 50) return out;
    }
  }
  return out;
}
function drawArrows(g, scale) {
  if (!selected) return;
  const at = p => [LEFT + (p.lane.t[p.i] - view.from) * scale,
                   p.lane.y + p.lane.depth[p.i] * ROW + ROW / 2];
  const [x0, y0] = at(selected);
  g.strokeStyle = '#dc2626';
  g.lineWidth = 1.5;
  for (const p of selected.partners) {
    const [x1, y1] = at(p);
    g.beginPath();
    g.moveTo(x0, y0);
    g.bezierCurveTo(x0 + 40, y0, x1 - 40, y1, x1, y1);
    g.stroke();
  }
}
function drawAxis(g, scale, width) {
  // 1, 2 or 5 times a power of ten, so that labels stand 90 pixels apart or more.
  const least = 90 / scale, power = Math.pow(10, Math.floor(Math.log10(least)));
  const step = [1, 2, 5, 10].map(n => n * power).find(n => n >= least);
  g.fillStyle = '#64748b';
  g.strokeStyle = '#e5eaf0';
  for (let t = Math.ceil(view.from / step) * step; t < view.to; t += step) {
    const x = LEFT + (t - view.from) * scale;
    g.beginPath(); g.moveTo(x, 0); g.lineTo(x, height); g.stroke();
    if (x < width - 60) g.fillText(tick(t, step), x + 3, box.scrollTop + 12);
  }
}
let pending = false;
function draw() {
  pending = false;
  const width = canvas.clientWidth, ratio = window.devicePixelRatio || 1;
  const tall = Math.min(height, Math.round(window.innerHeight * 0.6)), top = box.scrollTop;
  canvas.width = width * ratio;
  canvas.height = tall * ratio;
  canvas.style.height = tall + 'px';
  $('room').style.height = height - tall + 'px';
  const g = canvas.getContext('2d');
  g.scale(ratio, ratio);
  g.translate(0, -top);
  g.font = '11px system-ui, sans-serif';
  const scale = (width - LEFT) / (view.to - view.from);
  const seen = data.lanes.filter(l => l.y - HEAD < top + tall && l.y + l.rows * ROW > top);
  drawAxis(g, scale, width);
  for (const lane of seen) drawLane(g, lane, scale, width);
  drawArrows(g, scale);
  g.fillStyle = '#fff';
  g.fillRect(0, top, LEFT - 4, tall);
  if (top > 0) {  // the axis stays when the lanes below it move
    g.fillRect(0, top, width, HEAD - 4);
    drawAxis(g, scale, width);
  }
  for (const lane of seen) {
    if (lane.first) {
      g.font = 'bold 11px system-ui, sans-serif';
      g.fillStyle = '#1d2733';
      g.fillText(lane.group, 6, lane.y - 7);
      g.font = '11px system-ui, sans-serif';
    }
    g.fillStyle = '#475569';
    g.fillText(lane.title.slice(0, 30), 14, lane.y + 12);
  }
  window.drawn = (window.drawn || 0) + 1;
}
function redraw() { if (!pending) { pending = true; requestAnimationFrame(draw); } }
function setView(from, to) {
  const span = Math.min(Math.max(to - from, 50), data.wall || 1);
  view.from = Math.max(0, Math.min(from, (data.wall || 1) - span));
  view.to = view.from + span;
  redraw();
}
function zoom(at, factor) {
  setView(at - (at - view.from) * factor, at + (view.to - at) * factor);
}
canvas.addEventListener('wheel', e => {
  if (e.shiftKey) return;  // the box scrolls
  e.preventDefault();
  const width = canvas.clientWidth - LEFT;
  const at = view.from + (e.offsetX - LEFT) / width * (view.to - view.from);
  zoom(at, Math.exp(Math.sign(e.deltaY) * 0.3));
}, { passive: false });
// As in other viewers: w and s zoom, a and d move.
const KEYS = { w: [0, 0.7], s: [0, 1.4], a: [-0.2, 1], d: [0.2, 1] };
window.addEventListener('keydown', e => {
  const move = KEYS[e.key];
  if (!move || e.ctrlKey || e.metaKey || e.altKey || e.target.tagName === 'INPUT') return;
  const span = view.to - view.from;
  if (move[0]) setView(view.from + move[0] * span, view.to + move[0] * span);
  else zoom((view.from + view.to) / 2, move[1]);
});
let drag = null;
canvas.addEventListener('mousedown', e => {
  drag = { x: e.offsetX, y: e.clientY, from: view.from, top: box.scrollTop, moved: 0 };
});
window.addEventListener('mousemove', e => {
  if (e.target !== canvas) return;
  $('tip').hidden = true;
  if (!drag) { hover(e); return; }
  drag.moved += Math.abs(e.offsetX - drag.x) + Math.abs(e.clientY - drag.y);
  const shift = (drag.x - e.offsetX) / (canvas.clientWidth - LEFT) * (view.to - view.from);
  box.scrollTop = drag.top + drag.y - e.clientY;
  setView(drag.from + shift, drag.from + shift + (view.to - view.from));
});
box.addEventListener('scroll', redraw);
canvas.addEventListener('mouseleave', () => { $('tip').hidden = true; });
window.addEventListener('mouseup', e => {
  const click = drag && drag.moved < 4 && e.target === canvas;
  drag = null;
  if (click) select(pick(e.offsetX, e.offsetY));
});
canvas.addEventListener('dblclick', e => {
  const p = pick(e.offsetX, e.offsetY);
  if (p) setView(p.lane.t[p.i] - 0.1 * p.lane.d[p.i], p.lane.t[p.i] + 1.1 * p.lane.d[p.i]);
});
function hover(e) {
  const p = pick(e.offsetX, e.offsetY);
  tell(e, p ? `${data.names[p.lane.name[p.i]]}   ${time(p.lane.d[p.i])}` : '');
}
// A few words beside the mouse.
function tell(e, words) {
  const tip = $('tip');
  tip.hidden = !words;
  tip.textContent = words;
  tip.style.left = Math.min(e.clientX + 14, window.innerWidth - tip.offsetWidth - 8) + 'px';
  tip.style.top = e.clientY + 16 + 'px';
}
function pick(x, y) {
  y += box.scrollTop;
  const t = view.from + (x - LEFT) / (canvas.clientWidth - LEFT) * (view.to - view.from);
  const near = 2 * (view.to - view.from) / canvas.clientWidth;
  for (const lane of data.lanes) {
    const row = Math.floor((y - lane.y) / ROW);
    if (row < 0 || row >= lane.rows || y > lane.y + lane.rows * ROW) continue;
    for (let i = lower(lane, t + near) - 1; i >= 0 && lane.t[i] >= t - lane.longest - near; --i) {
      if (lane.depth[i] === row && lane.t[i] + Math.max(lane.d[i], near) >= t) return { lane, i };
    }
  }
  return null;
}
function select(p) {
  selected = p;
  if (p) {
    p.partners = partners(p);
    const tied = p.partners.slice(0, 5).map(
      q => `${data.names[q.lane.name[q.i]]} (${q.lane.group}, ${q.lane.title})`);
    const about = data.about[p.lane.name[p.i]];
    $('details').textContent = `${data.names[p.lane.name[p.i]]}\n${p.lane.group}, ${p.lane.title}` +
      (about ? `\n${about}` : '') +
      `\nstart ${time(p.lane.t[p.i])}   duration ${time(p.lane.d[p.i])}` +
      (tied.length ? `\ntied to ${tied.join(', ')}` : '');
  } else {
    $('details').textContent = 'Nothing selected.';
  }
  redraw();
}
$('all').onclick = () => setView(0, data.wall || 1);
function find(text) {
  text = text.toLowerCase();
  found = null;
  if (text) {
    found = new Set();
    data.names.forEach((n, i) => { if (n.toLowerCase().includes(text)) found.add(i); });
  }
  redraw();
}
$('find').oninput = e => find(e.target.value);
// Enter: the next slice that is found, in the order of time, lane after lane.
$('find').onkeydown = e => {
  if (e.key !== 'Enter' || !found) return;
  const lanes = data.lanes, first = selected ? lanes.indexOf(selected.lane) : 0;
  for (let n = 0; n <= lanes.length; ++n) {
    const lane = lanes[(first + n) % lanes.length];
    for (let i = selected && n === 0 ? selected.i + 1 : 0; i < lane.count; ++i) {
      if (!found.has(lane.name[i])) continue;
      select({ lane, i });
      box.scrollTop = lane.y - 60;
      setView(lane.t[i] - 2 * lane.d[i], lane.t[i] + 3 * lane.d[i]);
      return;
    }
  }
};
window.addEventListener('resize', redraw);

// ---- Tables: click a head to sort.
function cell(tag, text, kind) {
  const element = document.createElement(tag);
  element.textContent = text;
  if (kind) element.className = kind;
  return element;
}
function table(id, columns, rows, first, chosen) {
  const element = $(id);
  let order = first, down = true, words = '';
  function show() {
    const key = columns[order][1];
    const mine = rows.filter(r => !words || `${r.name} ${r.type}`.toLowerCase().includes(words));
    mine.sort((a, b) => {
      const x = a[key], y = b[key];
      if (x === null || y === null) return (x === null) - (y === null);
      return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
    });
    const head = document.createElement('tr');
    columns.forEach(([title, , , kind], i) => {
      const th = cell('th', title + (i === order ? (down ? ' \u25be' : ' \u25b4') : ''), kind);
      th.onclick = () => { down = i === order ? !down : true; order = i; show(); };
      head.append(th);
    });
    const body = mine.slice(0, 2000).map(r => {
      const tr = document.createElement('tr');
      if (chosen) { tr.className = 'link'; tr.onclick = () => chosen(r); }
      for (const [, name, form, kind] of columns) {
        const shown = form ? form(r[name], r) : r[name];
        tr.append(cell('td', shown, typeof kind === 'function' ? kind(r) : kind));
      }
      return tr;
    });
    if (mine.length > body.length) {
      const rest = document.createElement('tr');
      rest.append(cell('td', `and ${(mine.length - body.length).toLocaleString('en')} more`));
      body.push(rest);
    }
    element.replaceChildren(head, ...body);
  }
  show();
  return text => { words = text.toLowerCase(); show(); };
}
const us = v => v === null || v === undefined ? '' : v.toFixed(3);
const SPREAD = [['count', 'count'], ['total us', 'total', us], ['mean us', 'mean', us],
                ['p50 us', 'p50', us], ['p90 us', 'p90', us], ['p99 us', 'p99', us],
                ['max us', 'max', us]];
const sum = data.operators.reduce((n, r) => n + r.total, 0) || 1;
const share = ['share %', 'total', v => (100 * v / sum).toFixed(1)];
function show(row) {
  $('find').value = row.name;
  find(row.name);
  $('timeline-part').scrollIntoView();
}
const filter = table('operators', [['name', 'name', null, 'text'], ['type', 'type', null, 'text'],
                                   ...SPREAD.slice(0, 2), share, ...SPREAD.slice(2)],
                     data.operators, 3, show);
$('operators-part').hidden = !data.operators.length;
$('filter').oninput = e => filter(e.target.value);
table('calls', [['name', 'name', null, 'text'], ...SPREAD], data.calls, 2, show);
$('calls-part').hidden = !data.calls.length;
table('stacks', [['function', 'name', null, 'text'], ['own', 'own', time], ['total', 'total', time],
                 ['calls', 'count']],
      data.stacks.map(([name, own, total, count]) => ({ name, type: '', own, total, count })), 1);
$('stacks-part').hidden = !data.stacks.length;
if (data.diff) {
  $('diff-part').hidden = false;
  $('other').textContent = data.diff.title;
  $('sentence').textContent = data.diff.sentence;
  const tint = r => r.change === null ? '' : r.ratio > 1.02 ? 'slower' : r.ratio < 0.98 ? 'faster'
    : '';
  table('diff', [['name', 'name', null, 'text'], ['type', 'type', null, 'text'],
                 ['before us', 'before', us], ['now us', 'after', us],
                 ['change us', 'change', us, tint],
                 ['times', 'ratio', v => v === null ? '' : v.toFixed(2), tint],
                 ['change x count us', 'weight', us, tint]], data.diff.rows, 6, show);
}

// ---- Bars and charts.
const PARTS = { computing: '#2563eb', copying: '#d97706', waiting: '#7c3aed', idle: '#94a3b8' };
for (const part of data.breakdown) {
  $('breakdown').append(cell('b', `Device ${part.device}`));
  const bar = document.createElement('div'), legend = document.createElement('div');
  bar.className = 'bar';
  legend.className = 'legend';
  for (const [name, tint] of Object.entries(PARTS)) {
    const share = 100 * part.parts[name] / part.wall;
    if (share <= 0) continue;
    const piece = document.createElement('div');
    const words = cell('span', `${name} ${share.toFixed(1)} % (${time(part.parts[name])})`);
    piece.style.cssText = `width:${share}%;background:${tint}`;
    piece.title = words.textContent;
    words.style.borderColor = tint;
    bar.append(piece);
    legend.append(words);
  }
  const causes = part.causes.map(([name, ns]) => `${name} ${time(ns)}`).join(', ');
  $('breakdown').append(bar, legend, cell('div', causes ? `While it was idle, the host was in: ${causes}.`
    : '', 'hint'));
}
$('breakdown-part').hidden = !data.breakdown.length;
// Series of [time, value] as steps; the value under the mouse is shown.
function chart(id, series, label) {
  const element = $(id), tall = 130;
  const most = series.reduce((m, s) => s.points.reduce((n, p) => Math.max(n, p[1]), m), 1);
  const tint = n => `hsl(${(210 + n * 67) % 360} 70% 45%)`;
  function paint() {
    const width = element.clientWidth || 900, ratio = window.devicePixelRatio || 1;
    element.width = width * ratio;
    element.height = tall * ratio;
    const g = element.getContext('2d');
    g.scale(ratio, ratio);
    g.font = '11px system-ui, sans-serif';
    g.strokeStyle = '#e5eaf0';
    for (const y of [18, tall - 18]) { g.beginPath(); g.moveTo(0, y); g.lineTo(width, y); g.stroke(); }
    series.forEach((one, n) => {
      g.strokeStyle = tint(n);
      g.beginPath();
      let before = tall - 18;
      for (const [t, v] of one.points) {
        const x = t / data.wall * width, y = tall - 18 - v / most * (tall - 36);
        g.lineTo(x, before);
        g.lineTo(x, y);
        before = y;
      }
      g.lineTo(width, before);
      g.stroke();
      if (series.length > 1) {
        g.fillStyle = tint(n);
        g.fillText(one.name, 160 + 80 * n, 12);
      }
    });
    g.fillStyle = '#64748b';
    g.fillText(`most: ${label(most)}`, 6, 12);
    g.fillText('0', 6, tall - 5);
    const end = time(data.wall);
    g.fillText(end, width - g.measureText(end).width - 6, tall - 5);
  }
  element.onmousemove = e => {
    const at = e.offsetX / element.clientWidth * data.wall;
    const values = series.map(s => {
      let a = 0, b = s.points.length;
      while (a < b) { const m = (a + b) >> 1; if (s.points[m][0] <= at) a = m + 1; else b = m; }
      return `${s.name} ${label(a ? s.points[a - 1][1] : 0)}`;
    });
    tell(e, `${time(at)}: ${values.join(', ')}`);
  };
  element.onmouseleave = () => { $('tip').hidden = true; };
  paint();
  window.addEventListener('resize', paint);
}
const memory = Object.entries(data.memory);
$('memory-part').hidden = !memory.length;
if (memory.length)
  chart('memory', memory.map(([id, points]) => ({ name: `device ${id}`, points })), bytes);
$('bandwidth-part').hidden = !data.bandwidth.length;
if (data.bandwidth.length) {
  const width = data.wall / data.bandwidth.length;
  chart('bandwidth', [{ name: 'all copies', points: data.bandwidth.map((v, i) => [i * width, v]) }],
        v => bytes(v) + '/s');
}
const slices = data.lanes.reduce((n, lane) => n + lane.count, 0);
$('nothing').hidden = slices > 0;
$('timeline-part').hidden = slices === 0;
$('facts').textContent = `${slices.toLocaleString('en')} ${slices === 1 ? 'slice' : 'slices'} in ` +
  time(data.wall) +
  (data.lost ? `; ${data.lost} events were lost while recording` : '');
draw();
window.ready = true;
