// The features from the side: PCA at once, UMAP on demand, coloured by class or client.
import { classColor, themeColor } from './colors';
import { fromBase64, type Embedding, type Run } from './data';
import { el } from './dom';
import UmapWorker from './umap.worker?worker&inline';

const side = 460;

export class Scatter {
  readonly figure: HTMLElement;
  private readonly canvas = el('canvas', { role: 'img', 'aria-label': 'Scatter of features' });
  private readonly legend = el('ul', { class: 'legend' });
  private readonly status = el('p', { class: 'words', role: 'status' });
  private readonly color = el(
    'select',
    { id: 'scatter-color', change: () => this.draw() },
    el('option', { value: 'class' }, 'class'),
    el('option', { value: 'client' }, 'client'),
  );
  private readonly view = el(
    'select',
    { id: 'scatter-view', change: () => this.choose() },
    el('option', { value: 'pca' }, 'PCA'),
    el('option', { value: 'umap' }, 'UMAP'),
  );
  private run: Run | null = null;
  private embedding: Embedding | null = null;
  private points: Float32Array = new Float32Array();
  private umap: number[][] | null = null;
  private worker: Worker | null = null;

  constructor() {
    this.figure = el(
      'figure',
      { class: 'scatter' },
      el('figcaption', { class: 'note' }, 'Features of up to a thousand training images at the last look.'),
      el(
        'div',
        { class: 'controls' },
        el('label', { for: 'scatter-color' }, 'Colour by '),
        this.color,
        el('label', { for: 'scatter-view' }, 'Seen by '),
        this.view,
      ),
      this.canvas,
      this.legend,
      this.status,
    );
  }

  show(run: Run): void {
    this.run = run;
    this.figure.hidden = run.embedding === null;
    if (run.embedding === null || run.embedding === this.embedding) return;
    this.embedding = run.embedding;
    const bytes = fromBase64(run.embedding.points);
    this.points = new Float32Array(bytes.buffer, 0, bytes.length >> 2);
    this.umap = null;
    this.worker?.terminate();
    this.worker = null;
    const owners = this.embedding.owners.length > 0;
    const labels = this.embedding.labels.length > 0;
    this.color.options[0]!.disabled = !labels;
    this.color.options[1]!.disabled = !owners;
    if (this.view.value === 'umap') this.choose();
    else this.draw();
  }

  private choose(): void {
    if (this.view.value === 'umap' && this.umap === null && this.embedding !== null) {
      if (this.worker !== null) return;
      const { axes, count } = this.embedding;
      const rows = Array.from({ length: count }, (_, i) => Array.from(this.points.subarray(i * axes, (i + 1) * axes)));
      this.status.textContent = 'UMAP begins';
      this.worker = new UmapWorker();
      this.worker.onmessage = (event: MessageEvent<{ done?: number; points?: number[][] }>) => {
        if (event.data.points) {
          this.umap = event.data.points;
          this.worker?.terminate();
          this.worker = null;
          this.draw();
        } else {
          this.status.textContent = `UMAP: ${Math.round(100 * (event.data.done ?? 0))} %`;
        }
      };
      this.worker.onerror = () => {
        this.status.textContent = 'UMAP could not be started here';
        this.worker = null;
      };
      this.worker.postMessage(rows);
      return;
    }
    this.draw();
  }

  draw(): void {
    const embedding = this.embedding;
    if (!embedding || !this.run) return;
    const { axes, count } = embedding;
    const umap = this.view.value === 'umap' ? this.umap : null;
    if (this.view.value === 'umap' && umap === null) return;
    const xs = Array.from({ length: count }, (_, i) => (umap ? umap[i]![0]! : this.points[i * axes]!));
    const ys = Array.from({ length: count }, (_, i) => (umap ? umap[i]![1]! : this.points[i * axes + 1]!));
    const byClass = this.color.value === 'class' && embedding.labels.length > 0;
    const groups = byClass ? embedding.labels : embedding.owners;
    const names = byClass
      ? embedding.classes
      : Array.from({ length: this.run.clients?.clients.length ?? 0 }, (_, i) => this.run!.clientName(i));
    const size = Math.min(side, this.figure.clientWidth || side);
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = size * ratio;
    this.canvas.height = size * ratio;
    this.canvas.style.width = this.canvas.style.height = `${size}px`;
    const draw = this.canvas.getContext('2d')!;
    draw.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw.fillStyle = themeColor('--card');
    draw.fillRect(0, 0, size, size);
    const span = (values: number[]) => {
      const low = Math.min(...values);
      return { low, size: Math.max(1e-12, Math.max(...values) - low) };
    };
    const across = span(xs);
    const up = span(ys);
    const pad = 10;
    draw.globalAlpha = 0.8;
    for (let i = 0; i < count; ++i) {
      draw.fillStyle = classColor(groups[i] ?? -1, names.length);
      draw.beginPath();
      draw.arc(
        pad + ((xs[i]! - across.low) / across.size) * (size - 2 * pad),
        size - pad - ((ys[i]! - up.low) / up.size) * (size - 2 * pad),
        2.6,
        0,
        2 * Math.PI,
      );
      draw.fill();
    }
    draw.globalAlpha = 1;
    this.legend.replaceChildren(
      ...names.slice(0, 20).map((name, i) => {
        const mark = el('span', { class: 'box' });
        mark.style.background = classColor(i, names.length);
        return el('li', {}, mark, name);
      }),
      ...(names.length > 20 ? [el('li', {}, `and ${names.length - 20} more`)] : []),
    );
    this.status.textContent = umap
      ? `UMAP of round ${embedding.round}`
      : `PCA of round ${embedding.round}: two axes show ${Math.round(100 * embedding.explained)} % of the spread`;
    this.canvas.setAttribute(
      'aria-label',
      `Scatter of ${count} features by ${byClass ? 'class' : 'client'}. ${this.status.textContent}`,
    );
  }
}
