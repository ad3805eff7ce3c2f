import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { strings } from './strings/plugin.ts';

/** Maximum size of what a browser loads, compressed, until any first page is usable. */
const MAX_FIRST_LOAD_BYTES = 250_000;

/** Writes `x.br` and `x.gz` next to every text file of the build. */
function precompress(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    writeBundle({ dir }) {
      if (!dir) return;
      for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
        if (!/\.(js|css|svg|json)$/.test(name)) continue;
        const path = join(dir, name);
        const bytes = readFileSync(path);
        writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
        writeFileSync(
          `${path}.br`,
          brotliCompressSync(bytes, {
            params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
          }),
        );
      }
    },
  };
}

/** Fails the build if the entry with any one page, and their imports, exceeds {@link MAX_FIRST_LOAD_BYTES}. */
function limitFirstLoad(): Plugin {
  return {
    name: 'limit-first-load',
    apply: 'build',
    generateBundle(_options, bundle) {
      const sizes = new Map<string, number>();
      const sizeOf = (name: string): number => {
        const known = sizes.get(name);
        if (known !== undefined) return known;
        const file = bundle[name];
        const source = file === undefined ? '' : file.type === 'chunk' ? file.code : file.source;
        const size = gzipSync(source).length;
        sizes.set(name, size);
        return size;
      };
      /** A chunk with all of its static imports. */
      const filesOf = (name: string, found = new Set<string>()): Set<string> => {
        const chunk = bundle[name];
        if (found.has(name) || chunk?.type !== 'chunk') return found;
        found.add(name);
        for (const css of chunk.viteMetadata?.importedCss ?? []) found.add(css);
        for (const imported of chunk.imports) filesOf(imported, found);
        return found;
      };
      const entry = Object.values(bundle).find((file) => file.type === 'chunk' && file.isEntry);
      if (entry?.type !== 'chunk') return;
      let largest = { page: '', bytes: 0 };
      for (const page of ['', ...entry.dynamicImports]) {
        const files = filesOf(entry.fileName);
        if (page !== '') filesOf(page, files);
        const bytes = [...files].reduce((sum, name) => sum + sizeOf(name), 0);
        if (bytes > largest.bytes) largest = { page, bytes };
      }
      const text = `first load at most ${Math.round(largest.bytes / 1000)} kB gzip (${largest.page})`;
      // The pseudo-locale, which is only for tests, lengthens every text.
      if (largest.bytes > MAX_FIRST_LOAD_BYTES && process.env['CONSOLE_LOCALE'] !== 'pseudo')
        this.error(`${text}: more than ${MAX_FIRST_LOAD_BYTES / 1000} kB`);
      console.error(text);
    },
  };
}

export default defineConfig({
  base: '/console/',
  plugins: [strings(process.env['CONSOLE_LOCALE'] || 'en'), react(), limitFirstLoad(), precompress()],
  build: {
    target: 'es2024',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  // `npm run dev`: reloads pages on changes, and uses a service on this machine, or the one in PMS_URL.
  server: {
    proxy: Object.fromEntries(
      ['/v1', '/docs', '/openapi.json', '/console/config.json'].map((at) => [
        at,
        { target: process.env['PMS_URL'] ?? 'http://127.0.0.1:3000', changeOrigin: false },
      ]),
    ),
  },
});
