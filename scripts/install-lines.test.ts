import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const SPOKEN = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
  'apps/agent/src/tools.ts',
  'apps/agent/src/tunnel/link.ts',
  'apps/server/src/core/nodes/installer.ts',
]

/**
 * wireguard-tools recommends a kernel with WireGuard. In a container, or with a hoster's own kernel, apt answers with
 * a real-time one.
 */
test.each(SPOKEN)('what %s says to install pulls in no kernel', (file) => {
  const lines = readFileSync(join(ROOT, file), 'utf8').matchAll(/apt(?:-get)? install ([^\n`]*)/g)
  const careless = [...lines]
    .map(([line]) => line)
    .filter((line) => /wireguard|PACKAGES|\.deb/.test(line) && !line.includes('--no-install-recommends'))
  expect(careless).toEqual([])
})
