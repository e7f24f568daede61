// The page: frozen with its data inside, or live.
import './style.css';
import { Chart } from './charts';
import { asClients, Run, type PageJson } from './data';
import { el, replace, section } from './dom';
import { percent } from './format';
import { findToken, listen, loadData } from './live';
import { RunView, type RunState } from './run_view';
import { tableSection } from './tables';

const header = document.getElementById('header')!;
const main = document.getElementById('main')!;
let views: RunView[] = [];

function message(...lines: string[]): void {
  replace(main, ...lines.map((line) => el('p', { class: 'message' }, line)));
}

function showHeader(run: Run | null, runs: Run[], choose: (index: number) => void): void {
  const title = run ? `${run.name}` : 'Tables';
  document.title = `${title} · Kindred`;
  replace(header, el('p', { class: 'brand' }, 'Kindred'), el('h1', {}, title), run && run.method ? el('p', { class: 'note' }, run.method) : null);
  if (runs.length > 1) {
    const pick = el('select', { id: 'run', change: () => choose(pick.selectedIndex) }, ...runs.map((each) => el('option', {}, each.name)));
    pick.selectedIndex = run ? runs.indexOf(run) : 0;
    header.append(el('label', { for: 'run' }, 'Run '), pick);
  }
}

// Several runs side by side.
function comparison(runs: Run[]): HTMLElement {
  const knn = new Chart('kNN of all runs', 'percent', ' %');
  knn.show(runs.map((run) => ({ label: run.name, x: run.knn.round, y: run.knn.knn, scale: 100 })));
  const rows = runs.map((run) => {
    const last = run.knn.knn[run.knn.knn.length - 1];
    const evals = run.evals.map((each) => `${each.metric} ${percent(each.accuracy)}`).join(', ');
    return el('tr', {}, el('th', { scope: 'row' }, run.name), el('td', {}, run.method), el('td', {}, `${run.rounds.length} of ${run.wanted}`), el('td', {}, last === undefined ? '–' : percent(last)), el('td', {}, evals || '–'), el('td', {}, typeof run.summary?.model_digest === 'string' ? run.summary.model_digest.slice(0, 12) : '–'));
  });
  return section('comparison', 'Runs', el('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Table of runs' }, el('table', {}, el('thead', {}, el('tr', {}, ...['Run', 'Method', 'Rounds', 'kNN', 'Evaluations', 'Model'].map((name) => el('th', { scope: 'col' }, name)))), el('tbody', {}, ...rows))), knn.figure);
}

function showFrozen(page: PageJson): void {
  const runs = page.runs.map((json) => new Run(json));
  const tables = page.tables ?? [];
  const choose = (index: number): void => {
    const run = runs[index] ?? null;
    showHeader(run, runs, choose);
    const view = run ? new RunView(run) : null;
    views = view ? [view] : [];
    replace(main, ...tables.map(tableSection), runs.length > 1 ? comparison(runs) : null, view?.element);
    view?.update('frozen');
  };
  if (runs.length === 0 && tables.length === 0) message('There is nothing in this page.');
  else choose(0);
}

async function showLive(): Promise<void> {
  const token = findToken();
  if (token === '') {
    showHeader(null, [], () => undefined);
    message('This page needs the address that the run printed, with its token.');
    return;
  }
  message('Asking for the run…');
  const page = await loadData(token).catch(() => null);
  if (page === null || page.runs.length === 0) {
    message('The token is not of this run: open the address that it printed when it began.');
    return;
  }
  const run = new Run(page.runs[0]!);
  const view = new RunView(run);
  views = [view];
  let state: RunState = 'live';
  showHeader(run, [run], () => undefined);
  replace(main, view.element);
  view.update(state);
  // Events come in bursts: drawn together, at most a few times a second.
  let pending = false;
  const soon = (): void => {
    if (pending) return;
    pending = true;
    setTimeout(() => {
      pending = false;
      view.update(state);
    }, 200);
  };
  await listen(token, page.next ?? '0-0', {
    metrics: (line) => {
      // Who came before the run had its configuration asks for it now.
      if (run.config === '') {
        void loadData(token).then((now) => {
          run.config = now?.runs[0]?.config ?? '';
          view.showConfig();
          showHeader(run, [run], () => undefined);
          soon();
        });
      }
      run.addMetrics(line);
      soon();
    },
    audit: (event) => {
      run.addAudit(event);
      soon();
    },
    summary: (summary) => {
      run.summary = summary;
      soon();
    },
    part: (name, value) => {
      if (name === 'clients') run.clients = asClients(value);
      if (name === 'samples') run.samples = value as Run['samples'];
      if (name === 'embedding') run.embedding = value as Run['embedding'];
      ++run.version;
      soon();
    },
    state: (now) => {
      state = now;
      soon();
    },
  });
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => views.forEach((view) => view.redraw()));

const inlined = document.getElementById('kindred-data')?.textContent ?? 'null';
const page = JSON.parse(inlined) as PageJson | null;
if (page) showFrozen(page);
else void showLive();
