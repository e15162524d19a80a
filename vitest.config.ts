import { defineConfig } from 'vitest/config'

/** Real parts take their time; nothing else may. */
const slow = { testTimeout: 60_000, hookTimeout: 120_000, fileParallelism: false }

/** Each file has a server and a browser of its own, and mostly waits for them. */
const twoAtATime = { fileParallelism: true, maxWorkers: 2 }

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{apps,packages,scripts}/**/*.test.{ts,tsx}'],
          exclude: ['**/node_modules/**', '**/*.api.test.ts', '**/*.net.test.ts'],
          testTimeout: 20_000,
        },
      },
      { test: { name: 'api', include: ['apps/server/**/*.api.test.ts'], testTimeout: 20_000 } },
      { test: { name: 'e2e', include: ['tests/e2e/**/*.test.ts'], ...slow, ...twoAtATime } },
      { test: { name: 'net', include: ['tests/net/**/*.test.ts', 'apps/**/*.net.test.ts'], ...slow } },
    ],
  },
})
