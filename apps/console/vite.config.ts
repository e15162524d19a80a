import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** One file for all icons: left alone, each one that two pages share is a request of its own. */
const icons = { name: 'icons', test: /lucide-react/, includeDependenciesRecursively: false }

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  // The content policy admits no data: address for fonts and scripts, so nothing is inlined.
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    target: 'baseline-widely-available',
    rolldownOptions: { output: { codeSplitting: { groups: [icons] } } },
  },
  server: {
    host: '127.0.0.1',
    proxy: Object.fromEntries(
      ['/api', '/docs', '/install'].map((path) => [path, { target: 'http://127.0.0.1:3000', ws: true }]),
    ),
  },
})
