import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** Tests start our programs a thousand times: compiling them each time would be half of what a start takes. */
const env = { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/node') }

/** Far more than anything takes: no test depends on what else the machine does. */
const patient = { testTimeout: 180_000, hookTimeout: 240_000, env }

/** Loading our modules takes longer than most files: each worker loads them once, so files must leave nothing behind. */
const sharingModules = { isolate: false }

/** Images and packages are built from an empty Debian. */
const veryPatient = { testTimeout: 600_000, hookTimeout: 900_000, env }

const twoAtATime = { fileParallelism: true, maxWorkers: 2 }
/** Unit tests and labs wait for timers and other programs half of the time. */
const fourAtATime = { fileParallelism: true, maxWorkers: 4 }
const oneByOne = { fileParallelism: false }
/** Programs run as people install them. */
const withPrograms = { globalSetup: 'tests/build-programs.ts' }

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{apps,packages,scripts}/**/*.test.{ts,tsx}'],
          exclude: ['**/node_modules/**', '**/*.api.test.ts', '**/*.net.test.ts'],
          ...patient,
          ...sharingModules,
          ...fourAtATime,
        },
      },
      {
        test: {
          name: 'api',
          include: ['apps/server/**/*.api.test.ts'],
          ...patient,
          ...sharingModules,
          ...twoAtATime,
        },
      },
      {
        test: {
          name: 'attacks',
          include: ['tests/attacks/**/*.test.ts'],
          maxConcurrency: 24,
          ...patient,
          ...oneByOne,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['tests/e2e/**/*.test.ts'],
          ...patient,
          ...sharingModules,
          ...twoAtATime,
          ...withPrograms,
        },
      },
      {
        test: {
          name: 'net',
          include: [
            'tests/net/**/*.test.ts',
            'tests/conformance/**/*.test.ts',
            '{apps,packages}/**/*.net.test.ts',
          ],
          ...patient,
          ...fourAtATime,
          ...withPrograms,
        },
      },
      // `npm run test:long`: what people install, built and started; and the short bench, with the machine to itself.
      { test: { name: 'deploy', include: ['tests/deploy/**/*.test.ts'], ...veryPatient, ...oneByOne } },
      { test: { name: 'bench', include: ['bench/**/*.test.ts'], ...veryPatient, ...oneByOne } },
    ],
  },
})
