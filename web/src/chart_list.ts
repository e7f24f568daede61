// Which charts a run has: one entry each. A column that no entry names gets a chart of its own.
import { Chart, type Line } from './charts';
import type { Run } from './data';

interface Series {
  column: string; // of metrics.jsonl
  label: string;
  dashed?: boolean;
  scale?: number; // a factor for display
}

interface ChartKind {
  part: 'learning' | 'rounds'; // of the page
  title: string;
  note: string;
  unit?: string;
  series: Series[];
}

const percent = 100;

const kinds: ChartKind[] = [
  {
    part: 'learning',
    title: 'Loss',
    note: 'mean over clients; its parts where the method has several',
    series: [
      { column: 'loss', label: 'loss' },
      { column: 'contrast', label: 'contrast' },
      { column: 'neighborhood', label: 'neighbourhood matching' },
    ],
  },
  {
    part: 'learning',
    title: 'kNN',
    note: 'accuracy of the nearest training images’ vote, percent',
    unit: ' %',
    series: [{ column: 'knn', label: 'kNN', scale: percent }],
  },
  {
    part: 'learning',
    title: 'False negatives',
    note: 'share of the negatives that are of the query’s class, measured, beside what Eq. 4 and 5 say',
    unit: ' %',
    series: [
      { column: 'false_negatives', label: 'measured', scale: percent },
      { column: 'false_negatives_predicted', label: 'predicted', scale: percent, dashed: true },
    ],
  },
  {
    part: 'learning',
    title: 'Effective rank',
    note: 'of features, and of those that are shared: a fall to 1 is a collapse',
    series: [
      { column: 'feature_rank', label: 'own' },
      { column: 'shared_rank', label: 'shared' },
    ],
  },
  {
    part: 'learning',
    title: 'Cosine',
    note: 'mean between two features: 1 is a collapse',
    series: [
      { column: 'feature_cosine', label: 'own' },
      { column: 'shared_cosine', label: 'shared' },
      { column: 'remote_cosine', label: 'to remote ones' },
    ],
  },
  {
    part: 'learning',
    title: 'Neighbours',
    note: 'matching: how many of the N nearest are remote, and of the query’s class',
    unit: ' %',
    series: [
      { column: 'neighbors_remote', label: 'remote', scale: percent },
      { column: 'neighbors_same_class', label: 'of the query’s class', scale: percent },
    ],
  },
  {
    part: 'rounds',
    title: 'Bytes',
    note: 'of plans and of updates per round, MB',
    unit: ' MB',
    series: [
      { column: 'bytes_down', label: 'down', scale: 1e-6 },
      { column: 'bytes_up', label: 'up', scale: 1e-6 },
    ],
  },
  { part: 'rounds', title: 'Seconds', note: 'per round', series: [{ column: 'seconds', label: 'seconds' }] },
];

// What the round loop says of itself; nobody reads it as a curve.
const notDrawn = new Set(['round', 'lr', 'clients', 'images', 'cpu_seconds', 'lambda', 'feature_std', 'time']);

// A run's file may have any number of columns; the browser has not room for all.
const mostCharts = kinds.length + 24;

// The charts of one run. New columns get theirs as they come.
export class ChartList {
  private readonly charts: { kind: ChartKind; chart: Chart }[] = [];
  private readonly named = new Set(notDrawn);

  constructor(private readonly grids: Record<ChartKind['part'], HTMLElement>) {
    for (const kind of kinds) this.add(kind);
  }

  show(run: Run): void {
    for (const column of run.columns.keys()) {
      if (this.named.has(column) || this.charts.length >= mostCharts) continue;
      this.add({
        part: 'learning',
        title: column.replaceAll('_', ' '),
        note: 'as the method reports it',
        series: [{ column, label: column }],
      });
    }
    for (const { kind, chart } of this.charts) chart.show(kind.series.map((each) => this.line(run, each)));
  }

  redraw(): void {
    for (const { chart } of this.charts) chart.redraw();
  }

  private add(kind: ChartKind): void {
    for (const each of kind.series) this.named.add(each.column);
    const chart = new Chart(kind.title, kind.note, kind.unit);
    this.charts.push({ kind, chart });
    this.grids[kind.part].append(chart.figure);
  }

  private line(run: Run, series: Series): Line {
    if (series.column === 'knn') return { ...series, x: run.knn.round, y: run.knn.knn };
    return { ...series, x: run.rounds, y: run.columns.get(series.column) ?? [] };
  }
}
