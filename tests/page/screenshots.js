// The README's pictures: the page of a run, and the same on a phone in the dark.
//   node tests/page/screenshots.js KINDRED RUN FOLDER
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openBrowser, openPage, run, until } from './browser.js';

const [kindred, folder, out] = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), 'kindred-pictures-'));
const browser = await openBrowser();
try {
  const file = join(work, 'report.html');
  run(kindred, ['report', folder, '--out', file]);
  const pictures = [
    { name: 'page.png', options: { viewport: { width: 1160, height: 1180 }, colorScheme: 'light' } },
    { name: 'page-phone.png', options: { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } },
  ];
  for (const { name, options } of pictures) {
    const page = await openPage(browser, `file://${file}`, options);
    await page.waitForSelector('#tile-round');
    await until(page, () => document.querySelectorAll('.plot canvas').length > 3);
    await page.screenshot({ path: resolve(out, name) });
  }
} finally {
  await browser.close();
  rmSync(work, { recursive: true, force: true });
}
