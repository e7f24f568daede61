// The page: frozen with its data inside, or live.
import './style.css';
import { Chart } from './charts';
import { asClients, Run, type PageJson } from './data';
import { attempt, el, replace, section } from './dom';
import { percent } from './format';
import { findToken, listen, loadData } from './live';
import { showPrivacyLine } from './privacy_line';
import { RunView, type RunState } from './run_view';
import { tableSection } from './tables';

const header = document.getElementById('header')!;
const main = document.getElementById('main')!;
let drawn: { redraw(): void }[] = []; // what has colours of its own

function message(...lines: string[]): void {
  replace(main, ...lines.map((line) => el('p', { class: 'message' }, line)));
}

function showHeader(run: Run | null, runs: Run[], choose: (index: number) => void): void {
  const title = run ? run.name : page ? 'Tables' : 'A run';
  document.title = `${title} · Kindred`;
  replace(
    header,
    el('p', { class: 'brand' }, 'Kindred'),
    el('h1', {}, title),
    run && run.method ? el('p', { class: 'note' }, run.method) : null,
  );
  if (runs.length > 1) {
    const pick = el(
      'select',
      { id: 'run', change: () => choose(pick.selectedIndex) },
      ...runs.map((each) => el('option', {}, each.name)),
    );
    pick.selectedIndex = run ? runs.indexOf(run) : 0;
    header.append(el('label', { for: 'run' }, 'Run '), pick);
  }
}

// Several runs side by side.
function comparison(runs: Run[], knn: Chart): HTMLElement {
  knn.show(runs.map((run) => ({ label: run.name, x: run.knn.round, y: run.knn.knn, scale: 100 })));
  const rows = runs.map((run) => {
    const last = run.knnNow;
    const evals = run.evals.map((each) => `${each.metric} ${percent(each.accuracy)}`).join(', ');
    return el(
      'tr',
      {},
      el('th', { scope: 'row' }, run.name),
      el('td', {}, run.method),
      el('td', {}, `${run.done} of ${run.wanted}`),
      el('td', {}, last === undefined ? '–' : percent(last)),
      el('td', {}, evals || '–'),
      el('td', {}, typeof run.summary?.model_digest === 'string' ? run.summary.model_digest.slice(0, 12) : '–'),
    );
  });
  return section(
    'comparison',
    'Runs',
    el(
      'div',
      { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Table of runs' },
      el(
        'table',
        {},
        el(
          'thead',
          {},
          el(
            'tr',
            {},
            ...['Run', 'Method', 'Rounds', 'kNN', 'Evaluations', 'Model'].map((name) =>
              el('th', { scope: 'col' }, name),
            ),
          ),
        ),
        el('tbody', {}, ...rows),
      ),
    ),
    knn.figure,
  );
}

function showFrozen(page: PageJson): void {
  const runs = page.runs.map((json) => new Run(json));
  const tables = page.tables ?? [];
  const choose = (index: number): void => {
    const run = runs[index] ?? null;
    showHeader(run, runs, choose);
    showPrivacyLine(run);
    const view = run ? new RunView(run) : null;
    const knn = runs.length > 1 ? new Chart('kNN of all runs', 'percent', ' %') : null;
    drawn = [view, knn].filter((each): each is RunView | Chart => each !== null);
    const several = new Set(tables.map((table) => table.folder)).size > 1;
    const sections = tables.map(
      (table, i) =>
        attempt(() => tableSection(table, i, several)) ??
        el('p', { class: 'message bad' }, 'A table is damaged and could not be shown.'),
    );
    replace(main, ...sections, knn && comparison(runs, knn), view?.element);
    view?.update('frozen');
  };
  if (runs.length === 0 && tables.length === 0) message('There is nothing in this page.');
  else choose(0);
}

// Asks until there is an answer that will not change.
async function waitForData(token: string): Promise<PageJson | null> {
  for (;;) {
    const loaded = await loadData(token);
    if ('page' in loaded) return loaded.page;
    if (loaded.why === 'refused') {
      message('The token is not of this run: open the address that it printed when it began.');
      return null;
    }
    if (loaded.why === 'unreachable') {
      message('No connection: the run has ended, or the way to it is cut. Trying again.');
    } else {
      message(`The run could not be read (${loaded.why}). Trying again.`);
    }
    await new Promise((done) => setTimeout(done, 2000));
  }
}

async function showLive(): Promise<void> {
  const token = findToken();
  showHeader(null, [], () => undefined);
  if (token === '') {
    message('This page needs the address that the run printed, with its token.');
    return;
  }
  message('Asking for the run…');
  const page = await waitForData(token);
  if (page === null) return;
  const run = new Run(page.runs[0]!);
  const view = new RunView(run);
  drawn = [view];
  let state: RunState = 'live';
  const showRun = (): void => {
    showHeader(run, [run], () => undefined);
    showPrivacyLine(run);
    view.showConfig();
  };
  showRun();
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
      showPrivacyLine(run);
    }, 200);
  };
  // Who came before the run had its configuration asks for it, once at a time.
  let asking = false;
  const askForConfig = async (): Promise<void> => {
    if (asking || run.config !== null) return;
    asking = true;
    const now = await loadData(token);
    asking = false;
    if ('page' in now) {
      run.config = now.page.runs[0]?.config ?? null;
      run.privacy = now.page.runs[0]?.privacy ?? null;
    }
    showRun();
    soon();
  };
  await listen(token, page.next ?? '0-0', {
    metrics: (line) => {
      void askForConfig();
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

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => drawn.forEach((each) => each.redraw()));

const inlined = document.getElementById('kindred-data')?.textContent ?? 'null';
const page = JSON.parse(inlined) as PageJson | null;
if (page) showFrozen(page);
else void showLive();
