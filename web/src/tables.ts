// The paper's tables with our numbers, and columns of them as bars with deviations.
import { lineColor } from './colors';
import type { Cell, TableJson } from './data';
import { el, section, svg } from './dom';

function cellNode(cell: Cell): HTMLTableCellElement {
  const td = el('td');
  if (cell.mean !== undefined) {
    const mean = cell.mean.toFixed(2);
    td.append(cell.place === 1 ? el('strong', {}, mean) : cell.place === 2 ? el('u', {}, mean) : mean);
    if (cell.deviation !== undefined) td.append(el('span', { class: 'faint' }, ` ± ${cell.deviation.toFixed(2)}`));
    const first = cell.scores?.[0];
    if (first) {
      td.title = (cell.scores ?? [])
        .map((score) => [`seed ${score.seed}: ${score.accuracy.toFixed(2)}`, score.protocol, score.run, score.encoder_digest && `encoder ${score.encoder_digest.slice(0, 12)}`, score.data_hash && `data ${score.data_hash.slice(0, 12)}`, score.partition_hash && `partition ${score.partition_hash.slice(0, 12)}`].filter(Boolean).join(', '))
        .join('\n');
    }
  } else {
    td.append(cell.failed ? el('span', { class: 'bad', title: cell.failed }, 'failed') : '–');
  }
  if (cell.paper !== undefined) {
    const paper = cell.paper.toFixed(2);
    td.append(el('span', { class: 'paper' }, ' (', cell.paper_place === 1 ? el('strong', {}, paper) : cell.paper_place === 2 ? el('u', {}, paper) : paper, ')'));
  }
  return td;
}

// Bars of one column, ours filled, the paper's as a line.
function bars(table: TableJson, column: number): SVGElement | null {
  const rows = table.rows.map((row, i) => ({ row, cell: table.cells[i]![column]! })).filter(({ cell }) => cell.mean !== undefined || cell.paper !== undefined);
  if (!rows.some(({ cell }) => cell.mean !== undefined)) return null;
  const left = 190;
  const width = 640;
  const height = rows.length * 24 + 18;
  const x = (value: number) => left + ((width - left - 50) * value) / 100;
  const picture = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', class: 'bars', 'aria-label': `${table.columns[column]!.title}: ${rows.map(({ row, cell }) => `${row.title} ${cell.mean?.toFixed(2) ?? '-'}`).join(', ')}` });
  for (let tick = 0; tick <= 100; tick += 20) {
    picture.append(svg('line', { x1: x(tick), x2: x(tick), y1: 0, y2: height - 16, class: 'gridline' }));
    const text = svg('text', { x: x(tick), y: height - 3, 'text-anchor': 'middle', class: 'faint' });
    text.textContent = String(tick);
    picture.append(text);
  }
  rows.forEach(({ row, cell }, i) => {
    const y = i * 24 + 3;
    const name = svg('text', { x: left - 8, y: y + 13, 'text-anchor': 'end' });
    name.textContent = row.title;
    picture.append(name);
    if (cell.mean !== undefined) {
      picture.append(svg('rect', { x: left, y, width: Math.max(0, x(cell.mean) - left), height: 17, fill: row.role === 'reference' ? lineColor(8) : lineColor(0) }));
      if (cell.deviation !== undefined) {
        picture.append(svg('line', { x1: x(cell.mean - cell.deviation), x2: x(cell.mean + cell.deviation), y1: y + 8.5, y2: y + 8.5, class: 'whisker' }));
        for (const end of [cell.mean - cell.deviation, cell.mean + cell.deviation]) picture.append(svg('line', { x1: x(end), x2: x(end), y1: y + 4, y2: y + 13, class: 'whisker' }));
      }
      const value = svg('text', { x: x(cell.mean) + 6, y: y + 13, class: 'faint' });
      value.textContent = cell.mean.toFixed(1);
      picture.append(value);
    }
    if (cell.paper !== undefined) picture.append(svg('line', { x1: x(cell.paper), x2: x(cell.paper), y1: y - 1, y2: y + 18, class: 'papermark' }));
  });
  return picture;
}

export function tableSection(table: TableJson, index: number): HTMLElement {
  const id = `table-${table.name}-${index}`;
  const head = el('tr', {}, el('th', { scope: 'col' }, 'Method'), ...table.columns.map((column) => el('th', { scope: 'col' }, column.title)));
  const body = table.rows.map((row, r) => el('tr', { class: row.role }, el('th', { scope: 'row' }, row.title), ...table.columns.map((_, c) => cellNode(table.cells[r]![c]!))));
  const notes = [...table.rows.filter((row) => row.note).map((row) => `${row.title}: ${row.note}.`), ...table.order_notes.map((note) => `Another order than the paper's on ${note}.`)];
  const figures = el('div', { class: 'grid' });
  table.columns.forEach((column, c) => {
    const picture = bars(table, c);
    if (picture) figures.append(el('figure', {}, el('figcaption', {}, el('strong', {}, column.title), el('span', { class: 'note' }, 'bars: ours, with deviations; red lines: the paper’s')), picture));
  });
  return section(
    id,
    `${table.title}, ${table.scale} scale`,
    el('p', { class: 'note' }, 'Top-1 accuracy in percent; the paper’s number in brackets. Bold: best of the column, underlined: second best, upper bounds and random weights left out. A cell’s title holds its protocol and hashes.'),
    el('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': `Numbers: ${table.title}` }, el('table', {}, el('thead', {}, head), el('tbody', {}, ...body))),
    el('ul', { class: 'notes' }, ...notes.map((note) => el('li', {}, note))),
    el('details', {}, el('summary', {}, 'As bars'), figures),
  );
}
