// The paper's tables with our numbers, and columns of them as bars with deviations.
import { lineColor } from './colors';
import type { Cell, TableJson } from './data';
import { el, section, svg, type Child } from './dom';
import { bytes, duration } from './format';
import { LiveTable } from './live_table';

const marked = (text: string, place: number | undefined): Child =>
  place === 1 ? el('strong', {}, text) : place === 2 ? el('u', {}, text) : text;

// As the program rounded it; older tables hold the number alone.
const printed = (text: string | undefined, value: number): string => text ?? value.toFixed(2);

function cellNode(cell: Cell): HTMLTableCellElement {
  const td = el('td');
  if (cell.mean !== undefined) {
    td.append(el('span', {}, marked(printed(cell.text, cell.mean), cell.place)));
    if (cell.deviation !== undefined) {
      td.append(el('span', { class: 'faint' }, ` ± ${printed(cell.deviation_text, cell.deviation)}`));
    }
    if (cell.seeds_note) td.append(el('span', { class: 'faint' }, `, ${cell.seeds_note}`));
  } else {
    td.append(cell.failed ? el('span', { class: 'bad' }, 'failed') : '–');
  }
  if (cell.paper !== undefined) {
    const paper = marked(printed(cell.paper_text, cell.paper), cell.paper_place);
    td.append(el('span', { class: 'paper' }, ' (', paper, ')'));
  }
  return td;
}

// Every number with how it came about.
function originRows(table: TableJson): (string | number)[][] {
  const digest = (text: string | undefined) => text?.slice(0, 12) ?? '–';
  const size = (count: number | undefined) => (count === undefined ? '–' : bytes(count));
  const time = (seconds: number | undefined) => (seconds === undefined ? '–' : duration(seconds));
  return table.rows.flatMap((row, r) =>
    table.columns.flatMap((column, c) =>
      (table.cells[r]![c]!.scores ?? []).map((score) => [
        row.title,
        column.title,
        score.seed,
        printed(score.text, score.accuracy),
        score.protocol ?? '–',
        score.test_images ?? '–',
        digest(score.run_config_hash),
        digest(score.training?.model_digest),
        digest(score.encoder_digest),
        digest(score.data_hash),
        digest(score.partition_hash),
        digest(score.training?.commit || score.training?.version || undefined),
        digest(score.commit || score.version || undefined),
        size(score.training?.bytes_down ?? score.bytes_down),
        size(score.training?.bytes_up ?? score.bytes_up),
        time(score.training?.seconds),
        time(score.seconds),
      ]),
    ),
  );
}

const originNames = [
  'Method',
  'Column',
  'Seed',
  'Accuracy',
  'Protocol',
  'Test images',
  'Configuration',
  'Model',
  'Encoder',
  'Data',
  'Partition',
  'Trained by',
  'Evaluated by',
  'Sent down',
  'Sent up',
  'Training',
  'Evaluation',
];

// Made when it is opened: there are many.
function origins(table: TableJson): HTMLElement {
  const list = new LiveTable(`Origins: ${table.title}`);
  const details = el('details', { class: 'origins' }, el('summary', {}, 'Where each number comes from'));
  details.addEventListener(
    'toggle',
    () => {
      list.show(originNames, originRows(table));
      const note = 'Hashes, digests and commits by their first 12 digits; whole ones are in tables.json.';
      details.append(el('p', { class: 'note' }, note), list.region);
    },
    { once: true },
  );
  return details;
}

function failures(table: TableJson): string[] {
  return table.rows.flatMap((row, r) =>
    table.columns.flatMap((column, c) => {
      const { failed } = table.cells[r]![c]!;
      return failed ? [`Failed: ${row.title} on ${column.title}: ${failed}`] : [];
    }),
  );
}

// Bars of one column, ours filled, the paper's as a line.
function bars(table: TableJson, column: number): SVGElement | null {
  const rows = table.rows
    .map((row, i) => ({ row, cell: table.cells[i]![column]! }))
    .filter(({ cell }) => cell.mean !== undefined || cell.paper !== undefined);
  if (!rows.some(({ cell }) => cell.mean !== undefined)) return null;
  const said = rows.map(
    ({ row, cell }) => `${row.title} ${cell.mean === undefined ? '-' : printed(cell.text, cell.mean)}`,
  );
  const left = 190;
  const width = 640;
  const height = rows.length * 24 + 18;
  const x = (value: number) => left + ((width - left - 50) * value) / 100;
  const picture = svg('svg', {
    viewBox: `0 0 ${width} ${height}`,
    role: 'img',
    class: 'bars',
    'aria-label': `${table.columns[column]!.title}: ${said.join(', ')}`,
  });
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
      picture.append(
        svg('rect', {
          x: left,
          y,
          width: Math.max(0, x(cell.mean) - left),
          height: 17,
          fill: row.role === 'reference' ? lineColor(8) : lineColor(0),
        }),
      );
      if (cell.deviation !== undefined) {
        picture.append(
          svg('line', {
            x1: x(cell.mean - cell.deviation),
            x2: x(cell.mean + cell.deviation),
            y1: y + 8.5,
            y2: y + 8.5,
            class: 'whisker',
          }),
        );
        for (const end of [cell.mean - cell.deviation, cell.mean + cell.deviation])
          picture.append(svg('line', { x1: x(end), x2: x(end), y1: y + 4, y2: y + 13, class: 'whisker' }));
      }
      const value = svg('text', { x: x(cell.mean) + 6, y: y + 13, class: 'faint' });
      value.textContent = printed(cell.text, cell.mean);
      picture.append(value);
    }
    if (cell.paper !== undefined)
      picture.append(svg('line', { x1: x(cell.paper), x2: x(cell.paper), y1: y - 1, y2: y + 18, class: 'papermark' }));
  });
  return picture;
}

// `named`: with the folder, where tables are of several.
export function tableSection(table: TableJson, index: number, named: boolean): HTMLElement {
  const id = `table-${table.name}-${index}`;
  const head = el(
    'tr',
    {},
    el('th', { scope: 'col' }, 'Method'),
    ...table.columns.map((column) => el('th', { scope: 'col' }, column.title)),
  );
  const body = table.rows.map((row, r) =>
    el(
      'tr',
      { class: row.role },
      el('th', { scope: 'row' }, row.title),
      ...table.columns.map((_, c) => cellNode(table.cells[r]![c]!)),
    ),
  );
  const notes = [
    ...(table.protocols ?? []).map((protocol) => `Protocol: ${protocol}.`),
    ...(table.error_note ? [`${table.error_note}.`] : []),
    ...failures(table),
    ...table.rows.filter((row) => row.note).map((row) => `${row.title}: ${row.note}.`),
    ...(table.missing_notes ?? []).map((note) => `Not run, so that marks are among the others, on ${note}.`),
    ...table.order_notes.map((note) => `Another order than the paper's on ${note}.`),
    ...(table.paired_notes ?? []).map((note) => `Differences within a seed with 95 % intervals, ${note}.`),
    ...(table.cost_notes ?? []).map((note) => `Seconds of one core for training, ${note}.`),
  ];
  const figures = el('div', { class: 'grid pairs' });
  table.columns.forEach((column, c) => {
    const picture = bars(table, c);
    if (picture)
      figures.append(
        el(
          'figure',
          {},
          el(
            'figcaption',
            {},
            el('strong', {}, column.title),
            el('span', { class: 'note' }, 'bars: ours, with deviations; red lines: the paper’s'),
          ),
          el('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': `Bars: ${column.title}` }, picture),
        ),
      );
  });
  return section(
    id,
    `${table.title}, ${table.scale} scale${named && table.folder ? `, ${table.folder}` : ''}`,
    el(
      'p',
      { class: 'note' },
      'Top-1 accuracy in percent; ± is the sample standard deviation over seeds; the paper’s number in brackets. Bold: ' +
        'best of the column, underlined: second best, upper bounds and random weights left out.',
    ),
    el(
      'div',
      { class: 'wide numbers', tabindex: 0, role: 'region', 'aria-label': `Numbers: ${table.title}` },
      el('table', {}, el('thead', {}, head), el('tbody', {}, ...body)),
    ),
    el('ul', { class: 'notes' }, ...notes.map((note) => el('li', {}, note))),
    origins(table),
    el('details', {}, el('summary', {}, 'As bars'), figures),
  );
}
