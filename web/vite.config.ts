import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type Plugin, type ResolvedConfig } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';

// A policy that lets the page's own script and style run and nothing else, by their hashes.
function contentSecurityPolicy(): Plugin {
  let config: ResolvedConfig;
  return {
    name: 'content-security-policy',
    apply: 'build',
    configResolved(resolved) {
      config = resolved;
    },
    closeBundle() {
      const file = join(config.build.outDir, 'index.html');
      const html = readFileSync(file, 'utf8');
      const hashes = (tag: RegExp) =>
        [...html.matchAll(tag)]
          .map((match) => `'sha256-${createHash('sha256').update(match[1]!).digest('base64')}'`)
          .join(' ');
      const policy = [
        "default-src 'none'",
        `script-src ${hashes(/<script type="module"[^>]*>([\s\S]*?)<\/script>/g)}`,
        `style-src ${hashes(/<style[^>]*>([\s\S]*?)<\/style>/g)}`,
        'img-src data:',
        "connect-src 'self'",
        'worker-src blob:',
        "base-uri 'none'",
        "form-action 'none'",
      ].join('; ');
      const meta = `<meta http-equiv="Content-Security-Policy" content="${policy}">`;
      writeFileSync(file, html.replace('<meta charset="utf-8">', `<meta charset="utf-8">\n${meta}`));
    },
  };
}

export default defineConfig({
  base: './',
  build: { target: 'es2021', assetsInlineLimit: 1e8, cssCodeSplit: false, modulePreload: false },
  worker: { format: 'iife' },
  plugins: [viteSingleFile({ removeViteModuleLoader: true }), contentSecurityPolicy()],
});
