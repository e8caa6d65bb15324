// SPDX-License-Identifier: Apache-2.0
// The page's script: a timeline on a canvas, tables, bars and charts. No library, no network.
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);
const ROW = 18, GAP = 4, HEAD = 22, LEFT = 190, TRACK = 46;
// The colours of the canvases follow the system's light or dark mode.
const dark = matchMedia('(prefers-color-scheme: dark)');
let ink = {};
function readInk() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ['ink', 'soft', 'line', 'paper', 'mark'])
    ink[name] = style.getPropertyValue('--' + name).trim();
}
readInk();
dark.addEventListener('change', () => { readInk(); redraw(); window.dispatchEvent(new Event('resize')); });

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
let selected = null, found = null, range = null;
// Series that are drawn below the lanes, in the same scale of time: {title, points, label}.
const step = values => values.map((v, i) => [i * data.wall / values.length, v]);
const tracks = [
  ...Object.entries(data.memory).map(([id, points]) =>
    ({ title: `memory of device ${id}`, points, label: bytes })),
  ...(data.rate.length ? [{ title: 'operations', points: step(data.rate),
                           label: v => rate(v) }] : []),
  ...(data.bandwidth.length ? [{ title: 'copies', points: step(data.bandwidth),
                                label: v => bytes(v) + '/s' }] : [])];
function rate(n) {
  for (const unit of ['FLOP/s', 'KFLOP/s', 'MFLOP/s', 'GFLOP/s', 'TFLOP/s']) {
    if (n < 1000 || unit === 'TFLOP/s') return n.toFixed(n < 10 ? 2 : 1) + ' ' + unit;
    n /= 1000;
  }
}
function colour(name) {
  return `hsl(${(name * 137) % 360} 55% ${name % 2 ? 52 : 60}%)`;
}
// The same as a word of an image: red is the lowest byte. Found once for each name.
const words32 = [];
function pixel(name, hit) {
  if (words32[name] === undefined) {
    const hue = (name * 137) % 360 / 30, light = name % 2 ? 0.52 : 0.6;
    const part = n => {  // as CSS converts hsl()
      const k = (n + hue) % 12;
      return Math.round(255 * (light - 0.55 * Math.min(light, 1 - light) *
        Math.max(-1, Math.min(k - 3, 9 - k, 1))));
    };
    words32[name] = (part(4) << 16) | (part(8) << 8) | part(0);
  }
  return (words32[name] | ((hit ? 255 : 38) << 24)) >>> 0;
}
// A row of a lane, one pixel high: slices that are no wider than a pixel are put there and drawn
// together, because a million rectangles are too many.
const strip = document.createElement('canvas');
class Specks {
  constructor(width) {
    this.image = new ImageData(Math.max(Math.ceil(width), 1), 1);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.any = false;
  }
  put(x, word) { this.pixels[x] = word; this.any = true; }
  draw(g, y) {
    if (!this.any) return;
    strip.width = this.image.width;
    strip.height = 1;
    strip.getContext('2d').putImageData(this.image, 0, 0);
    g.imageSmoothingEnabled = false;
    g.drawImage(strip, 0, 0, strip.width, 1, 0, y, strip.width, ROW - 2);
  }
}
function place() {
  let y = HEAD, group = null;
  for (const lane of data.lanes) {
    if (lane.group !== group) { lane.first = true; y += HEAD; group = lane.group; }
    lane.y = y;
    y += lane.rows * ROW + GAP;
  }
  tracks.forEach((track, i) => {
    if (i === 0) { y += HEAD; track.first = true; }
    track.y = y;
    track.most = track.points.reduce((m, p) => Math.max(m, p[1]), 1);
    y += TRACK + GAP;
  });
  return y + 6;
}
const height = place();
function lower(lane, t) {
  let a = 0, b = lane.count;
  while (a < b) { const m = (a + b) >> 1; if (lane.t[m] < t) a = m + 1; else b = m; }
  return a;
}
// The first slice at or after `from` that begins at `t` or later: by doubled steps, then halves.
function after(lane, from, end, t) {
  let width = 1;
  while (from + width < end && lane.t[from + width] < t) { from += width; width *= 2; }
  let a = from + 1, b = Math.min(from + width, end);
  while (a < b) { const m = (a + b) >> 1; if (lane.t[m] < t) a = m + 1; else b = m; }
  return a;
}
function drawLane(g, lane, scale, width) {
  const last = new Float64Array(lane.rows).fill(-1);
  const end = lower(lane, view.to);
  const specks = Array.from({ length: lane.rows }, () => new Specks(width));
  let hidden = 0;
  for (let i = lower(lane, view.from - lane.longest); i < end; ++i) {
    const x1 = LEFT + (lane.t[i] + lane.d[i] - view.from) * scale;
    if (x1 < LEFT) continue;
    const row = lane.depth[i];
    if (x1 <= last[row]) {  // hidden behind what is drawn in this pixel
      // Where all rows of the pixel are full, what begins in it cannot be seen.
      if (++hidden > 8) {
        const free = Math.min(...last);
        hidden = 0;
        if (free > x1) i = after(lane, i, end, view.from + (free - LEFT) / scale) - 1;
      }
      continue;
    }
    hidden = 0;
    const x0 = Math.max(LEFT, LEFT + (lane.t[i] - view.from) * scale);
    const w = Math.max(Math.min(x1, width) - x0, 1);
    const chosen = selected && selected.lane === lane && selected.i === i;
    const hit = found === null || found.has(lane.name[i]);
    last[row] = w > 1 ? x0 + w - 0.5 : Math.floor(x0) + 1;  // one slice a pixel
    if (w <= 1 && !chosen) {
      specks[row].put(Math.floor(x0), pixel(lane.name[i], hit));
      continue;
    }
    g.globalAlpha = hit ? 1 : 0.15;
    g.fillStyle = chosen ? ink.ink : colour(lane.name[i]);
    g.fillRect(x0, lane.y + row * ROW, w, ROW - 2);
    if (w > 30) {
      g.fillStyle = '#fff';
      g.fillText(data.names[lane.name[i]].slice(0, Math.floor(w / 6)), x0 + 3,
                 lane.y + row * ROW + 12);
    }
  }
  g.globalAlpha = 1;
  specks.forEach((row, n) => row.draw(g, lane.y + n * ROW));
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
// A series as an area, on its lane below the others.
function drawTrack(g, track, scale, width) {
  const base = track.y + TRACK - 2, points = track.points;
  const high = v => base - v / track.most * (TRACK - 6);
  let a = 0, b = points.length;
  while (a < b) { const m = (a + b) >> 1; if (points[m][0] < view.from) a = m + 1; else b = m; }
  let before = a ? high(points[a - 1][1]) : base;
  g.fillStyle = g.strokeStyle = ink.mark;
  g.beginPath();
  g.moveTo(LEFT, base);
  g.lineTo(LEFT, before);
  for (let i = a; i < points.length && points[i][0] <= view.to; ++i) {
    const x = LEFT + (points[i][0] - view.from) * scale;
    g.lineTo(x, before);
    before = high(points[i][1]);
    g.lineTo(x, before);
  }
  g.lineTo(width, before);
  g.stroke();
  g.lineTo(width, base);
  g.closePath();
  g.globalAlpha = 0.2;
  g.fill();
  g.globalAlpha = 1;
}
function drawAxis(g, scale, width) {
  // 1, 2 or 5 times a power of ten, so that labels stand 90 pixels apart or more.
  const least = 90 / scale, power = Math.pow(10, Math.floor(Math.log10(least)));
  const step = [1, 2, 5, 10].map(n => n * power).find(n => n >= least);
  g.fillStyle = ink.soft;
  g.strokeStyle = ink.line;
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
  for (const track of tracks) drawTrack(g, track, scale, width);
  drawArrows(g, scale);
  if (range) {
    const x0 = LEFT + (range.from - view.from) * scale, x1 = LEFT + (range.to - view.from) * scale;
    g.fillStyle = ink.mark;
    g.globalAlpha = 0.15;
    g.fillRect(Math.max(x0, LEFT), top, Math.max(x1 - Math.max(x0, LEFT), 1), tall);
    g.globalAlpha = 1;
  }
  g.fillStyle = ink.paper;
  g.fillRect(0, top, LEFT - 4, tall);
  if (top > 0) {  // the axis stays when the lanes below it move
    g.fillRect(0, top, width, HEAD - 4);
    drawAxis(g, scale, width);
  }
  for (const lane of seen) {
    if (lane.first) {
      g.font = 'bold 11px system-ui, sans-serif';
      g.fillStyle = ink.ink;
      g.fillText(lane.group, 6, lane.y - 7);
      g.font = '11px system-ui, sans-serif';
    }
    g.fillStyle = ink.soft;
    g.fillText(lane.title.slice(0, 30), 14, lane.y + 12);
  }
  for (const track of tracks) {
    g.fillStyle = ink.soft;
    g.fillText(track.title, 14, track.y + 14);
    g.fillText('most ' + track.label(track.most), 14, track.y + 28);
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
// Shift and drag: a range, whose statistics are shown below.
const timeAt = x => view.from + (x - LEFT) / (canvas.clientWidth - LEFT) * (view.to - view.from);
function setRange(a, b) {
  range = { from: Math.max(0, Math.min(a, b)), to: Math.min(data.wall, Math.max(a, b)) };
  redraw();
}
// Names of slices that begin in the range, lane by lane; a busy time counts once where slices nest.
function rangeRows() {
  const rows = new Map(), lanes = [];
  for (const lane of data.lanes) {
    const begin = lower(lane, range.from), end = lower(lane, range.to);
    let busy = 0, until = range.from;
    for (let i = lower(lane, range.from - lane.longest); i < end; ++i) {
      const a = Math.max(lane.t[i], until), b = Math.min(lane.t[i] + lane.d[i], range.to);
      if (b > a) { busy += b - a; until = b; }
      if (i < begin) continue;
      const key = `${lane.group}\t${lane.name[i]}`;
      const row = rows.get(key) || { name: data.names[lane.name[i]], type: lane.group, count: 0,
                                     total: 0, max: 0 };
      row.count += 1;
      row.total += lane.d[i] / 1000;
      row.max = Math.max(row.max, lane.d[i] / 1000);
      rows.set(key, row);
    }
    lanes.push([lane, busy]);
  }
  for (const row of rows.values()) row.mean = row.total / row.count;
  return { rows: [...rows.values()], lanes };
}
function showRange() {
  $('range-part').hidden = !range;
  if (!range) return;
  const { rows, lanes } = rangeRows(), length = range.to - range.from;
  const busy = lanes.filter(([, ns]) => ns > 0).map(
    ([lane, ns]) => `${lane.group} ${lane.title}: ${(100 * ns / length).toFixed(1)} %`);
  $('range-words').textContent = `${time(range.from)} to ${time(range.to)}, ${time(length)}` +
    (busy.length ? `; busy ${busy.slice(0, 8).join(', ')}` : '');
  table('range', [['name', 'name', null, 'text'], ['lane', 'type', null, 'text'],
                  ['count', 'count'], ['total us', 'total', us], ['mean us', 'mean', us],
                  ['max us', 'max', us]], rows, 3);
}
canvas.addEventListener('mousedown', e => {
  if (e.shiftKey) {
    const from = timeAt(Math.max(e.offsetX, LEFT));
    drag = { range: from, moved: 9 };
    setRange(from, from);
    return;
  }
  drag = { x: e.offsetX, y: e.clientY, from: view.from, top: box.scrollTop, moved: 0 };
});
window.addEventListener('mousemove', e => {
  if (e.target !== canvas) return;
  $('tip').hidden = true;
  if (!drag) { hover(e); return; }
  if (drag.range !== undefined) { setRange(drag.range, timeAt(Math.max(e.offsetX, LEFT))); return; }
  drag.moved += Math.abs(e.offsetX - drag.x) + Math.abs(e.clientY - drag.y);
  const shift = (drag.x - e.offsetX) / (canvas.clientWidth - LEFT) * (view.to - view.from);
  box.scrollTop = drag.top + drag.y - e.clientY;
  setView(drag.from + shift, drag.from + shift + (view.to - view.from));
});
box.addEventListener('scroll', redraw);
canvas.addEventListener('mouseleave', () => { $('tip').hidden = true; });
window.addEventListener('mouseup', e => {
  const click = drag && drag.moved < 4 && e.target === canvas;
  if (drag && drag.range !== undefined) {
    if (range.to <= range.from) range = null;
    showRange();
    redraw();
  }
  drag = null;
  if (click) select(pick(e.offsetX, e.offsetY));
});
canvas.addEventListener('dblclick', e => {
  const p = pick(e.offsetX, e.offsetY);
  if (p) setView(p.lane.t[p.i] - 0.1 * p.lane.d[p.i], p.lane.t[p.i] + 1.1 * p.lane.d[p.i]);
});
function valueAt(points, at) {
  let a = 0, b = points.length;
  while (a < b) { const m = (a + b) >> 1; if (points[m][0] <= at) a = m + 1; else b = m; }
  return a ? points[a - 1][1] : 0;
}
function hover(e) {
  const y = e.offsetY + box.scrollTop, on = tracks.find(t => y >= t.y && y < t.y + TRACK);
  if (on) {
    const at = timeAt(e.offsetX);
    tell(e, `${time(at)}: ${on.title} ${on.label(valueAt(on.points, at))}`);
    return;
  }
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
$('range-end').onclick = () => { range = null; showRange(); redraw(); };
$('range-zoom').onclick = () => setView(range.from, range.to);
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
const PEAK = [['% of peak', 'peak', v => v === null || v === undefined ? '' : v.toFixed(0)]]
  .filter(() => data.operators.some(r => typeof r.peak === 'number'));
const filter = table('operators', [['name', 'name', null, 'text'], ['type', 'type', null, 'text'],
                                   ...SPREAD.slice(0, 2), share, ...SPREAD.slice(2), ...PEAK],
                     data.operators, 3, show);
$('operators-part').hidden = !data.operators.length;
$('filter').oninput = e => filter(e.target.value);
table('types', [['type', 'name', null, 'text'], ['operators', 'operators'], ['count', 'count'],
                ['total us', 'total', us], share, ['mean us', 'mean', us]], data.types, 3,
      r => { $('filter').value = r.name; filter(r.name); $('operators-part').scrollIntoView(); });
$('types-part').hidden = !data.types.length;
table('stamps', [['name', 'name', null, 'text'], ...SPREAD], data.stamps, 2, show);
$('stamps-part').hidden = !data.stamps.length;
$('slow-part').hidden = !data.slow.length;
for (const text of data.slow) $('slow').append(cell('li', text));
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
  $('breakdown').append(cell('b', `Device ${part.device} ${part.about}`.trim()));
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
    g.strokeStyle = ink.line;
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
    g.fillStyle = ink.soft;
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
// Roofline: operations a second over operations a byte, both on logarithmic scales; the size of a
// point is the time of the operator.
function roofline() {
  const element = $('roofline'), top = data.peaks.flops, slope = data.peaks.bandwidth;
  const points = data.roofline, tall = 340, pad = 46;
  const xs = points.map(p => Math.log10(p.intensity)).concat(Math.log10(top / slope));
  const ys = points.map(p => Math.log10(p.rate)).concat(Math.log10(top));
  const span = all => [Math.floor(Math.min(...all) - 0.1), Math.ceil(Math.max(...all) + 0.1)];
  const [x0, x1] = span(xs), [y0, y1] = span(ys);
  const most = points.reduce((m, p) => Math.max(m, p.total), 1e-9);
  $('roofline-words').textContent =
    `Peaks of this machine, measured ${data.peaks.how || 'with numpy'} (${data.peaks.machine}): ` +
    `${rate(top)} ` +
    (data.peaks.raised ? '(raised to the fastest operator) ' : `in ${data.peaks.kind || 'float32'} `) +
    `and ${bytes(slope)}/s. A point is an operator, its size the time in all; points far below the ` +
    'line have room. Operators whose data stays in the caches may lie above its slope.';
  let shown = [];
  function paint() {
    const width = element.clientWidth || 900, ratio = window.devicePixelRatio || 1;
    element.width = width * ratio;
    element.height = tall * ratio;
    const g = element.getContext('2d');
    g.scale(ratio, ratio);
    g.font = '11px system-ui, sans-serif';
    const x = v => pad + (v - x0) / (x1 - x0) * (width - pad - 12);
    const y = v => tall - 30 - (v - y0) / (y1 - y0) * (tall - 44);
    g.strokeStyle = ink.line;
    g.fillStyle = ink.soft;
    for (let n = x0; n <= x1; ++n) {
      g.beginPath(); g.moveTo(x(n), y(y0)); g.lineTo(x(n), y(y1)); g.stroke();
      g.fillText(`${Math.pow(10, n)}`, x(n) - 8, tall - 14);
    }
    for (let n = y0; n <= y1; ++n) {
      g.beginPath(); g.moveTo(x(x0), y(n)); g.lineTo(x(x1), y(n)); g.stroke();
      g.fillText(rate(Math.pow(10, n)).replace(/\.\d+ /, ' ').replace('FLOP/s', ''), 6, y(n) + 4);
    }
    g.fillText('operations a byte', width - 110, tall - 2);
    g.fillText('FLOP/s', 6, 10);
    const roof = v => Math.min(Math.log10(top), v + Math.log10(slope));
    const knee = Math.log10(top / slope);
    g.strokeStyle = ink.mark;
    g.lineWidth = 2;
    g.beginPath();
    g.moveTo(x(x0), y(Math.max(roof(x0), y0)));
    g.lineTo(x(knee), y(Math.log10(top)));
    g.lineTo(x(x1), y(Math.log10(top)));
    g.stroke();
    g.lineWidth = 1;
    shown = points.map(p => ({ p, x: x(Math.log10(p.intensity)), y: y(Math.log10(p.rate)),
                               r: 3 + 11 * Math.sqrt(p.total / most) }));
    for (const one of shown) {
      g.fillStyle = colour(data.names.indexOf(one.p.name) + 1);
      g.globalAlpha = 0.75;
      g.beginPath();
      g.arc(one.x, one.y, one.r, 0, 2 * Math.PI);
      g.fill();
    }
    g.globalAlpha = 1;
  }
  element.onmousemove = e => {
    const near = shown.filter(o => Math.hypot(o.x - e.offsetX, o.y - e.offsetY) <= o.r + 2)
      .sort((a, b) => a.r - b.r)[0];
    if (!near) { $('tip').hidden = true; return; }
    const p = near.p, bound = Math.min(top, p.intensity * slope);
    tell(e, `${p.name} (${p.type}): ${rate(p.rate)}, ${p.intensity.toFixed(2)} operations a byte, ` +
      `${(100 * p.rate / bound).toFixed(0)} % of what is possible there, ${p.total.toFixed(0)} us`);
  };
  element.onmouseleave = () => { $('tip').hidden = true; };
  paint();
  window.addEventListener('resize', paint);
}
$('roofline-part').hidden = !data.roofline.length;
if (data.roofline.length) roofline();
const slices = data.lanes.reduce((n, lane) => n + lane.count, 0);
$('nothing').hidden = slices > 0;
$('timeline-part').hidden = slices === 0;
$('facts').textContent = `${slices.toLocaleString('en')} ${slices === 1 ? 'slice' : 'slices'} in ` +
  time(data.wall) +
  (data.lost ? `; ${data.lost} events were lost while recording` : '');
draw();
window.ready = true;
