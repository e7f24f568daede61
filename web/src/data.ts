// What the program tells of runs (src/report/page_data.h), and how it grows while a run goes on.

export interface Client {
  place: number;
  name: string;
  images: number;
  counts?: number[];
  rounds?: number;
  missed?: number;
  strikes?: number;
  left?: boolean;
}

export interface Clients {
  classes: string[];
  clients: Client[];
}

export interface Samples {
  views: string;
  encodings?: string;
  mix?: number;
}

export interface Embedding {
  round: number;
  count: number;
  axes: number;
  explained: number;
  points: string;
  labels: number[];
  owners: number[];
  classes: string[];
}

export interface AuditEvent {
  time: number;
  event: string;
  client?: string;
  round?: number;
  reason?: string;
  detail?: string;
  more?: number; // of a flood: how many lines were left out
}

export interface Audit {
  counts: Record<string, number>;
  by_client: Record<string, { miss?: number; refuse?: number; reasons?: Record<string, number> }>;
  events: AuditEvent[];
}

export interface Evaluation {
  metric: string;
  protocol: string;
  accuracy: number;
  deviation?: number;
  round?: number;
  seeds?: number[];
  dataset?: string;
  data_hash?: string;
  encoder_digest?: string;
  version?: string;
  labels?: number;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Summary = Record<string, any>;

// The run's configuration by section and key; null where it cannot be read.
export type Config = Record<string, Record<string, unknown>> | null;

export interface RunJson {
  name: string;
  config: Config;
  privacy: { features: string; sentence: string } | null;
  summary: Summary | null;
  metrics: { rounds: number; columns: Record<string, (number | null)[]>; clients: number; who: string };
  knn: { round: number[]; knn: number[] };
  evals: Evaluation[];
  audit: Audit | null;
  clients: Clients | null;
  samples: Samples | null;
  embedding: Embedding | null;
  damage?: string[]; // what of the folder could not be read
}

export interface TableJson {
  folder?: string; // it was found in
  name: string;
  title: string;
  scale: string;
  rows: { name: string; title: string; role: string; note: string }[];
  columns: { dataset: string; setting: string; metric: string; labels: string; title: string }[];
  cells: Cell[][];
  order_notes: string[];
  missing_notes?: string[]; // these and the next ones: not in older tables
  paired_notes?: string[];
  cost_notes?: string[];
  protocols?: string[];
  error_note?: string;
}

// A number of one seed, and how it came about.
export interface Score {
  seed: number;
  accuracy: number;
  text?: string;
  protocol?: string;
  run?: string;
  run_config_hash?: string;
  encoder_digest?: string;
  data_hash?: string;
  partition_hash?: string;
  commit?: string;
  version?: string;
  test_images?: number;
  seconds?: number;
  bytes_down?: number;
  bytes_up?: number;
  training?: {
    model_digest?: string;
    seconds?: number;
    bytes_down?: number;
    bytes_up?: number;
    version?: string;
    commit?: string;
  };
}

// `text`: a number as the program rounded it; older tables have none.
export interface Cell {
  mean?: number;
  text?: string;
  deviation?: number;
  deviation_text?: string;
  seeds_note?: string; // where the cell's seeds are not those of its column
  place?: number;
  scores?: Score[];
  paper?: number;
  paper_text?: string;
  paper_place?: number;
  failed?: string;
}

export interface PageJson {
  live: boolean;
  next?: string;
  runs: RunJson[];
  tables?: TableJson[];
}

export function fromBase64(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

const mostEvents = 2000;

// What tells one evaluation from another, as in src/report/page_data.cc.
const evaluationKeys = [
  'round',
  'metric',
  'protocol',
  'accuracy',
  'deviation',
  'seeds',
  'dataset',
  'data_hash',
  'encoder_digest',
  'version',
  'labels',
] as const;
const sameAs = (each: object): string => JSON.stringify(evaluationKeys.map((key) => (each as Evaluation)[key] ?? null));

// A file of the run that somebody may have damaged.
export function asClients(value: unknown): Clients | null {
  const { classes, clients } = (value ?? {}) as Partial<Clients>;
  return Array.isArray(classes) && Array.isArray(clients) ? { classes, clients } : null;
}

// A run that may still grow. `version` rises with each change.
export class Run {
  readonly name: string;
  config: Config;
  // What is shared of images, where the program knows the mechanism.
  privacy: RunJson['privacy'];
  summary: Summary | null;
  rounds: number[] = [];
  columns = new Map<string, (number | null)[]>();
  who: Set<number>[] = [];
  clientCount = 0;
  knn: { round: number[]; knn: number[] };
  evals: Evaluation[];
  audit: Audit | null;
  clients: Clients | null;
  samples: Samples | null;
  embedding: Embedding | null;
  readonly damage: string[];
  version = 0;

  constructor(json: RunJson) {
    this.damage = json.damage ?? [];
    this.name = json.name;
    this.config = json.config;
    this.privacy = json.privacy;
    this.summary = json.summary;
    this.knn = json.knn;
    this.evals = json.evals;
    // Names are anybody's, also "__proto__": an object that inherits nothing.
    this.audit = json.audit && { ...json.audit, by_client: Object.assign(Object.create(null), json.audit.by_client) };
    this.clients = asClients(json.clients);
    this.samples = json.samples;
    this.embedding = json.embedding;
    const { columns, rounds, clients, who } = json.metrics;
    this.clientCount = clients;
    this.rounds = (columns.round ?? []).map((value) => value ?? 0);
    for (const [name, values] of Object.entries(columns)) if (name !== 'round') this.columns.set(name, values);
    const bits = fromBase64(who);
    const stride = (clients + 7) >> 3;
    for (let row = 0; row < rounds; ++row) {
      const set = new Set<number>();
      for (let c = 0; c < clients; ++c) if ((bits[row * stride + (c >> 3)]! >> (c & 7)) & 1) set.add(c);
      this.who.push(set);
    }
  }

  // train.rounds of the configuration; 0 where it says none.
  get wanted(): number {
    if (typeof this.summary?.rounds === 'number') return this.summary.rounds;
    const rounds = this.config?.train?.rounds;
    return typeof rounds === 'number' ? rounds : 0;
  }

  // Whether features leave clients. 'maybe': if the method shares any, which the first round will show.
  get shares(): 'yes' | 'no' | 'maybe' {
    if (this.summary?.shared_features || this.columns.has('shared_rank')) return 'yes';
    return this.rounds.length > 0 ? 'no' : 'maybe';
  }

  get method(): string {
    if (typeof this.summary?.method === 'string') return this.summary.method;
    const name = this.config?.method?.name;
    return typeof name === 'string' ? name : '';
  }

  // Rounds that are done.
  get done(): number {
    if (typeof this.summary?.rounds === 'number') return this.summary.rounds;
    return this.rounds[this.rounds.length - 1] ?? 0;
  }

  // The newest look of the monitor.
  get knnNow(): number | undefined {
    if (typeof this.summary?.knn_last === 'number') return this.summary.knn_last;
    return this.knn.knn[this.knn.knn.length - 1];
  }

  last(name: string): number | null {
    const column = this.columns.get(name);
    return column && column.length > 0 ? (column[column.length - 1] ?? null) : null;
  }

  // Over all rounds: as the run itself summed it up, once it is finished.
  sum(name: string): number {
    const told: unknown = this.summary?.[name];
    if (typeof told === 'number') return told;
    return (this.columns.get(name) ?? []).reduce<number>((all, value) => all + (value ?? 0), 0);
  }

  // A line of metrics.jsonl. A round that is known already is done again: what came after it goes.
  addMetrics(line: Record<string, unknown>): void {
    const round = typeof line.round === 'number' ? line.round : 0;
    if (line.kind === 'knn' && typeof line.knn === 'number') {
      while (this.knn.round.length > 0 && this.knn.round[this.knn.round.length - 1]! >= round) {
        this.knn.round.pop();
        this.knn.knn.pop();
      }
      this.knn.round.push(round);
      this.knn.knn.push(line.knn);
    } else if (line.kind === 'eval') {
      const known = this.evals.some((each) => sameAs(each) === sameAs(line));
      if (!known && typeof line.accuracy === 'number') this.evals.push(line as unknown as Evaluation);
    } else if (line.kind === 'round') {
      while (this.rounds.length > 0 && this.rounds[this.rounds.length - 1]! >= round) {
        this.rounds.pop();
        this.who.pop();
        for (const column of this.columns.values()) column.pop();
      }
      const rows = this.rounds.length;
      this.rounds.push(round);
      for (const [name, value] of Object.entries(line)) {
        if (typeof value !== 'number' || name === 'round') continue;
        if (!this.columns.has(name)) this.columns.set(name, new Array<number | null>(rows).fill(null));
        this.columns.get(name)!.push(value);
      }
      for (const column of this.columns.values()) if (column.length <= rows) column.push(null);
      const who = Array.isArray(line.who) ? line.who.filter((each): each is number => typeof each === 'number') : [];
      this.who.push(new Set(who));
      for (const place of who) this.clientCount = Math.max(this.clientCount, place + 1);
    } else {
      return;
    }
    ++this.version;
  }

  addAudit(event: AuditEvent): void {
    this.audit ??= { counts: {}, by_client: Object.create(null) as Audit['by_client'], events: [] };
    const told = Math.max(1, typeof event.more === 'number' ? event.more : 1);
    this.audit.counts[event.event] = (this.audit.counts[event.event] ?? 0) + told;
    if (event.client !== undefined && (event.event === 'miss' || event.event === 'refuse')) {
      const own = (this.audit.by_client[event.client] ??= {});
      own[event.event] = (own[event.event] ?? 0) + told;
      if (event.event === 'refuse' && event.reason !== undefined) own.reasons = { ...own.reasons, [event.reason]: 1 };
    }
    if (event.event !== 'accept') this.audit.events.push(event);
    if (this.audit.events.length > mostEvents) this.audit.events.shift();
    ++this.version;
  }

  clientName(place: number): string {
    return this.clients?.clients.find((client) => client.place === place)?.name ?? `client ${place}`;
  }
}
