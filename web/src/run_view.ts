// One run: its state, charts, clients, samples and features.
import { ChartList } from './chart_list';
import type { AuditEvent, Run } from './data';
import { attempt, el, replace, section } from './dom';
import { bytes, duration, percent, short } from './format';
import { LiveTable } from './live_table';
import { partitionPicture } from './partition';
import { Scatter } from './scatter';
import { Timeline } from './timeline';

export type RunState = 'frozen' | 'live' | 'lost' | 'ended' | 'refused';

const stateWords = (run: Run, state: RunState): string => {
  if (run.summary) return 'finished';
  if (state === 'refused') return 'another run is here: open its address';
  if (state === 'lost') return 'no connection, trying again';
  if (state === 'ended') return 'stopped';
  if (state === 'frozen') return 'not finished';
  if (run.rounds.length === 0) return run.audit ? 'waiting for clients' : 'beginning';
  return 'training';
};

export class RunView {
  readonly element = el('div', { class: 'run' });
  private readonly tiles = el('dl', { class: 'tiles' });
  private readonly bar = el('progress', { 'aria-label': 'rounds done', max: 1, value: 0 });
  private readonly learning = el('div', { class: 'grid' });
  private readonly rounds = el('div', { class: 'grid' });
  private readonly charts = new ChartList({ learning: this.learning, rounds: this.rounds });
  private readonly timeline = new Timeline();
  private readonly scatter = new Scatter();
  private readonly clients = el('div');
  private readonly partition = el('div');
  private readonly samples = el('div');
  private readonly evaluations = el('div');
  private readonly events = el('div');
  private readonly config = el('pre', { tabindex: 0 });
  private readonly clientTable = new LiveTable('Table of clients');
  private readonly eventTable = new LiveTable('Table of events');
  private readonly eventCounts = el('p', { class: 'note' });
  private shownEvents = -1;
  private shownClients: unknown = undefined;
  private shownSamples: unknown = undefined;

  constructor(private readonly run: Run) {
    this.showConfig();
    replace(
      this.element,
      section(
        'progress',
        'Progress',
        this.bar,
        this.tiles,
        run.damage.length > 0
          ? el(
              'p',
              { class: 'bad', id: 'damage' },
              `The run’s folder is damaged, and this page is not whole: ${run.damage.join('; ')}.`,
            )
          : null,
      ),
      section('learning', 'Learning', this.learning),
      this.evaluations,
      section('rounds', 'Rounds', this.timeline.figure, this.rounds),
      this.clients,
      this.events,
      this.partition,
      this.samples,
      section('features', 'Features', this.scatter.figure),
      section('configuration', 'Configuration', el('details', {}, el('summary', {}, 'All settings'), this.config)),
    );
  }

  showConfig(): void {
    const sections = Object.entries(this.run.config ?? {}).map(([section, keys]) =>
      [`[${section}]`, ...Object.entries(keys).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)].join('\n'),
    );
    this.config.textContent = sections.join('\n\n');
  }

  update(state: RunState): void {
    const { run } = this;
    this.showTiles(state);
    this.charts.show(run);
    attempt(() => this.timeline.show(run));
    const features = this.element.querySelector<HTMLElement>('#features');
    const scattered = attempt(() => (this.scatter.show(run), true));
    if (features) features.hidden = run.embedding === null || !scattered;
    attempt(() => this.showClients());
    attempt(() => this.showEvaluations());
    attempt(() => this.showEvents());
    attempt(() => this.showSamples());
  }

  redraw(): void {
    this.charts.redraw();
    attempt(() => this.timeline.draw());
    attempt(() => this.scatter.draw());
  }

  private showTiles(state: RunState): void {
    const { run } = this;
    const { done, wanted } = run;
    const spent = run.sum('seconds');
    const left = (spent / Math.max(1, run.rounds.length)) * Math.max(0, wanted - done);
    const goesOn = !run.summary && (state === 'live' || state === 'lost') && run.rounds.length > 0;
    const images = run.rounds.length > 0 ? run.sum('images') : 0; // of a client's folder: how many it owns
    this.bar.max = Math.max(1, wanted);
    this.bar.value = done;
    const tile = (name: string, id: string, value: string) =>
      el('div', { class: 'tile' }, el('dt', {}, name), el('dd', { id: `tile-${id}` }, value));
    const last = (name: string) => {
      const value = run.last(name);
      return value === null ? '–' : short(value);
    };
    const knn = run.knnNow;
    const refused = run.audit?.counts.refuse ?? 0;
    const missed = run.audit?.counts.miss ?? 0;
    replace(
      this.tiles,
      tile('State', 'state', stateWords(run, state)),
      tile('Round', 'round', `${done} of ${wanted || '?'}`),
      tile('Time left', 'left', goesOn ? duration(left) : '–'),
      tile('Time spent', 'spent', duration(spent)),
      tile('Loss', 'loss', last('loss')),
      tile('kNN', 'knn', knn === undefined ? '–' : percent(knn)),
      tile('Effective rank', 'rank', last('feature_rank')),
      tile('Images per second', 'speed', spent > 0 && images > 0 ? short(Math.round(images / spent)) : '–'),
      tile('Sent down', 'down', bytes(run.sum('bytes_down'))),
      tile('Sent up', 'up', bytes(run.sum('bytes_up'))),
      run.audit ? tile('Missed, refused', 'refused', `${missed}, ${refused}`) : null,
      typeof run.summary?.model_digest === 'string'
        ? tile('Model', 'digest', run.summary.model_digest.slice(0, 12))
        : null,
    );
  }

  private showClients(): void {
    const { run } = this;
    if (run.clients === null) return;
    const key = `${run.version}`;
    if (this.shownClients === key) return;
    // The table follows each round; the picture is drawn once.
    const first = this.shownClients === undefined || this.partition.childElementCount === 0;
    this.shownClients = key;
    const counted = new Map<number, number>();
    for (const who of run.who) for (const place of who) counted.set(place, (counted.get(place) ?? 0) + 1);
    const rows = run.clients.clients.map((client) => {
      const trouble = run.audit?.by_client[client.name];
      const reasons = Object.keys(trouble?.reasons ?? {}).join(', ');
      return [
        client.left ? `${client.name} (left)` : client.name,
        client.images,
        counted.get(client.place) ?? 0,
        ...(run.audit
          ? [trouble?.miss ?? 0, trouble?.refuse ? `${trouble.refuse}${reasons ? `: ${reasons}` : ''}` : 0]
          : []),
      ];
    });
    const head = ['Client', 'Images', 'Rounds in', ...(run.audit ? ['Missed', 'Refused'] : [])];
    this.clientTable.show(head, rows);
    if (this.clients.childElementCount === 0)
      replace(this.clients, section('clients', 'Clients', this.clientTable.region));
    if (first && run.clients.clients.some((client) => client.counts))
      replace(this.partition, section('partition', 'Who owns what', partitionPicture(run.clients)));
  }

  private showEvaluations(): void {
    const { evals } = this.run;
    if (evals.length === 0) return;
    const rows = evals.map((each) =>
      el(
        'tr',
        {},
        el('th', { scope: 'row' }, each.metric),
        el('td', {}, each.protocol),
        el('td', {}, each.round ?? '–'),
        el(
          'td',
          {},
          `${percent(each.accuracy)}${(each.seeds?.length ?? 1) > 1 ? ` ± ${percent(each.deviation ?? 0)}` : ''}`,
        ),
      ),
    );
    replace(
      this.evaluations,
      section(
        'evaluations',
        'Evaluations',
        el(
          'div',
          { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Table of evaluations' },
          el(
            'table',
            {},
            el(
              'thead',
              {},
              el(
                'tr',
                {},
                ...['Metric', 'Protocol', 'Round', 'Accuracy'].map((name) => el('th', { scope: 'col' }, name)),
              ),
            ),
            el('tbody', {}, ...rows),
          ),
        ),
      ),
    );
  }

  private showEvents(): void {
    const { audit } = this.run;
    if (!audit || this.shownEvents === this.run.version) return;
    this.shownEvents = this.run.version;
    const rows = audit.events
      .slice(-200)
      .reverse()
      .map((event: AuditEvent) => [
        new Date(1000 * event.time).toISOString().slice(11, 19),
        event.event,
        event.client ?? '',
        event.round ?? '',
        [event.reason, event.detail].filter(Boolean).join(': '),
      ]);
    this.eventTable.show(['UTC', 'Event', 'Client', 'Round', 'Why'], rows);
    this.eventCounts.textContent = Object.entries(audit.counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
    if (this.events.childElementCount === 0)
      replace(this.events, section('events', 'Events', this.eventCounts, this.eventTable.region));
  }

  private showSamples(): void {
    const { samples } = this.run;
    if (samples === this.shownSamples || samples === null) return;
    this.shownSamples = samples;
    const safe = (url: string | undefined) =>
      typeof url === 'string' && url.startsWith('data:image/png;base64,') ? url : '';
    replace(
      this.samples,
      section(
        'samples',
        'Samples',
        el('p', { class: 'note' }, 'Images of this run’s own data: whoever has this page has them.'),
        el(
          'div',
          { class: 'grid pairs' },
          el(
            'figure',
            {},
            el(
              'figcaption',
              {},
              el('strong', {}, 'Views'),
              el('span', { class: 'note' }, 'each image, and two random views of it'),
            ),
            el('img', { src: safe(samples.views), alt: 'Training images, each with two random views', class: 'sheet' }),
          ),
          samples.encodings
            ? el(
                'figure',
                {},
                el(
                  'figcaption',
                  {},
                  el('strong', {}, 'Encodings'),
                  el(
                    'span',
                    { class: 'note' },
                    `the ${samples.mix ?? 4} images that are mixed, the encoding, its magnitudes; obfuscation, not encryption`,
                  ),
                ),
                el('img', {
                  src: safe(samples.encodings),
                  alt: 'InstaHide encodings beside the images they mix',
                  class: 'sheet',
                }),
              )
            : null,
        ),
      ),
    );
  }
}
