import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** What every page needs and no release of ours changes: one file, which compresses better and is kept longer. */
const framework = {
  name: 'framework',
  test: /node_modules.(react|react-dom|scheduler|react-router|zod)\//,
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  // The content policy admits no data: address for fonts and scripts, so nothing is inlined.
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    target: 'baseline-widely-available',
    // Every browser of the target preloads modules by itself.
    modulePreload: { polyfill: false },
    rolldownOptions: { output: { codeSplitting: { groups: [framework] } } },
  },
  server: {
    host: '127.0.0.1',
    proxy: Object.fromEntries(
      ['/api', '/docs', '/install'].map((path) => [path, { target: 'http://127.0.0.1:3000', ws: true }]),
    ),
  },
})
