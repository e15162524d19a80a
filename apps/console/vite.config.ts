import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { compress } from './compress.ts'

/**
 * Modules that are loaded together are one file with all their imports, for few requests and better compression.
 * First the libraries that no release of ours changes, then what the sign-in page and the console share, what every
 * form needs, the sign-in page with what it shares with the page of a link, and what every page behind the sign-in
 * shows.
 */
const CHUNKS = [
  { name: 'framework', test: /node_modules.(react|react-dom|scheduler|zod)\// },
  {
    name: 'base',
    test: /preload-helper|src.(main|connect|api.context|stores.(arrival|draft|brought-ticket)|util.urls|ui.\w+.(Banner|TextInput|Field)|components.(Glyph|ThemeToggle))\.tsx?$/,
  },
  { name: 'form', test: /src.forms.\w+.(use-form-shell|TextField)\.tsx?$/ },
  { name: 'sign-in', test: /src.(mount-login|pages.login.|components.sign-in.)/ },
  {
    name: 'console',
    test: /src.(mount-console|routes|pages.(layout.*|nodes.NodesPage)|table.(?!AnswerTable)[\w-]+|components.(?!use-node\.|use-leave-guard)[\w-]+|ui.\w+.(Menu|Tooltip|Select|StatusDot))\.tsx?$/,
  },
].map((chunk, index, { length }) => ({ ...chunk, priority: length - index }))

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), compress()],
  // The content policy admits no data: address for fonts and scripts, so nothing is inlined.
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    target: 'baseline-widely-available',
    // Every target browser preloads modules by itself.
    modulePreload: { polyfill: false },
    rolldownOptions: { output: { codeSplitting: { groups: CHUNKS } } },
  },
  server: {
    host: '127.0.0.1',
    proxy: Object.fromEntries(
      ['/api', '/docs', '/install'].map((path) => [path, { target: 'http://127.0.0.1:3000', ws: true }]),
    ),
  },
})
