// What the tests and pictures of the page have in common: Debian's browser, the program, a run.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
export const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);

export const openBrowser = () => chromium.launch({ executablePath: browserPath, args: ['--no-sandbox', '--disable-gpu'] });

// A page that remembers what went wrong in it.
export async function openPage(browser, url, options = {}) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.troubles = [];
  page.on('console', (line) => {
    if (line.type() === 'error' || line.type() === 'warning') page.troubles.push(line.text());
  });
  page.on('pageerror', (error) => page.troubles.push(String(error)));
  page.on('dialog', (dialog) => {
    page.troubles.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(url);
  return page;
}

// A command beside the test, its log and a promise of its end.
export function start(kindred, args, folder) {
  const child = spawn(kindred, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.on('data', (bytes) => (log += bytes));
  const ended = new Promise((done) => child.on('exit', (code) => done(code)));
  return { ended, log: () => log, stop: () => child.kill('SIGINT') };
}

// A free port of this machine.
export const freePort = () =>
  new Promise((found) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => found(port));
    });
  });

// `kindred train` or `serve` with a dashboard: its address too.
export async function startRun(kindred, args, command = 'train') {
  const running = start(kindred, [command, '--dashboard', '127.0.0.1:0', ...args]);
  let over = false;
  void running.ended.then(() => (over = true));
  for (;;) {
    const url = /dashboard: (\S+)/.exec(running.log())?.[1];
    if (url) return { url, ...running };
    if (over) throw new Error(`the run ended before it had a page:\n${running.log()}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}
export function run(kindred, args) {
  const result = spawnSync(kindred, args, { encoding: 'utf8' });
  if (result.status !== 0) throw new Error(`kindred ${args.join(' ')}: ${result.stderr}`);
  return result.stdout;
}

export async function violations(page) {
  const axe = readFileSync(join(root, 'tests/page/node_modules/axe-core/axe.min.js'), 'utf8');
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document));
  return found.violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.html.slice(0, 120)).join(' | ')}`);
}

export const tile = (page, name) => page.textContent(`#tile-${name}`);

// Waits until the function holds in the page. Playwright's own waiting needs eval, which the page's policy forbids.
export async function until(page, holds, given, seconds = 60) {
  for (let tries = 0; tries < 20 * seconds; ++tries) {
    if (await page.evaluate(holds, given)) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`never: ${holds}; the page says: ${(await page.textContent('body')).slice(0, 2000)}`);
}
