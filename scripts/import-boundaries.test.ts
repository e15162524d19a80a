import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')

/** [file, what it says, words of the reason; without them it must pass] */
const CASES: [file: string, code: string, reason?: string][] = [
  ['packages/net/src/a1.ts', "import './ip.ts'"],
  ['packages/net/src/a2.ts', "import 'zod'", 'packages/net is pure'],
  ['packages/net/src/a3.ts', "import '@postern/contract/fields'", 'packages/net is pure'],
  ['packages/net/src/a4.ts', "import '../../contract/src/fields.ts'", 'packages/net is pure'],
  ['packages/net/src/a5.test.ts', "import 'vitest'"],
  ['packages/contract/src/a1.ts', "import '@postern/net/ip'"],
  ['packages/contract/src/a2.ts', "import 'zod/mini'"],
  ['packages/contract/src/a3.ts', "import 'zod'", 'packages/net and zod/mini only'],
  ['packages/contract/src/a4.ts', "import 'node:fs'", 'packages/net and zod/mini only'],
  ['packages/contract/src/a5.ts', "import '@postern/render/x'", 'packages/net and zod/mini only'],
  ['packages/render/src/a1.ts', "import '@postern/contract/edge'"],
  ['packages/render/src/a2.ts', "import 'node:fs'", 'packages/render is pure'],
  ['packages/render/src/a3.ts', "import '../../../apps/edge/src/exec.ts'", 'packages/render is pure'],
  ['apps/edge/src/a1.ts', "import '@postern/render/x'"],
  ['apps/edge/src/a2.ts', "import '../../server/src/app.ts'", 'Apps never import apps'],
  ['apps/edge/src/drivers/a3.ts', "import '../../../server/src/app.ts'", 'Apps never import apps'],
  ['apps/edge/src/a4.ts', "import '@postern/testkit/api'", 'Only tests use the testkit'],
  ['apps/edge/src/a5.ts', "import 'node:child_process'", 'exec.ts only'],
  ['apps/edge/src/exec.ts', "import 'node:child_process'"],
  ['apps/edge/src/a6.test.ts', "import '@postern/testkit/api'"],
  ['apps/edge/src/a7.test.ts', "import 'node:child_process'"],
  ['apps/agent/src/a1.ts', "import '@postern/contract/agent'"],
  ['apps/agent/src/a2.ts', "import '@postern/render/x'", 'contract and net only'],
  ['apps/agent/src/a3.ts', "import '../../edge/src/exec.ts'", 'Apps never import apps'],
  ['apps/agent/src/a4.ts', "import 'node:child_process'", 'exec.ts only'],
  ['apps/agent/src/exec.ts', "import 'node:child_process'"],
  ['apps/agent/src/a5.ts', "import '@postern/testkit/api'", 'Only tests use the testkit'],
  ['apps/server/src/a1.ts', "import 'node:child_process'", 'The server starts no other programs'],
  ['apps/server/src/exec.ts', "import 'node:child_process'", 'The server starts no other programs'],
  ['apps/server/src/a2.ts', "import '../../edge/src/loop.ts'", 'Apps never import apps'],
  ['apps/server/src/a3.ts', "import '@postern/testkit/api'", 'Only tests use the testkit'],
  ['apps/server/src/core/a1.ts', "import '../db/schema.ts'"],
  ['apps/server/src/core/a2.ts', "import '../http/route.ts'", 'knows no HTTP'],
  ['apps/server/src/core/a3.ts', "import '../routes/nodes.ts'", 'knows no HTTP'],
  ['apps/server/src/core/a4.ts', "import 'fastify'", 'knows no HTTP'],
  ['apps/server/src/core/a5.ts', "import 'node:child_process'", 'The server starts no other programs'],
  ['apps/server/src/core/a6.ts', "import '../../../edge/src/loop.ts'", 'Apps never import apps'],
  ['apps/server/src/db/a1.ts', "import './schema.ts'"],
  ['apps/server/src/db/a2.ts', "import '../core/nodes.ts'", 'db knows tables only'],
  ['apps/server/src/db/migrations/a3.ts', "import '../../core/nodes.ts'", 'db knows tables only'],
  ['apps/server/src/routes/a1.ts', "import '../core/nodes.ts'"],
  ['apps/console/src/a1.ts', "import '@postern/contract/nodes'"],
  ['apps/console/src/a2.ts', "import 'node:fs'", 'runs in a browser'],
  ['apps/console/src/a3.ts', "import '@postern/render/x'", 'contract and net only'],
  ['apps/console/src/a4.ts', "import '../../server/src/app.ts'", 'Apps never import apps'],
  ['apps/console/src/a5.ts', "import 'zod'", 'zod/mini'],
  ['apps/console/src/pages/nodes/a1.tsx', "import '../../forms/node-form.tsx'"],
  ['apps/console/src/pages/nodes/a2.tsx', "import './NodeCard.tsx'"],
  ['apps/console/src/pages/nodes/a3.tsx', "import '../domains/DomainsPage.tsx'", 'Pages do not import pages'],
  ['apps/console/src/pages/nodes/a4.tsx', "import '../HomePage.tsx'", 'Pages do not import pages'],
  ['apps/console/src/forms/a1.tsx', "import '../ui/Button.tsx'"],
  ['apps/console/src/forms/a2.tsx', "import '../pages/nodes/NodePage.tsx'", 'Pages do not import pages'],
  ['apps/console/src/ui/a1.tsx', "import '../util/cx.ts'"],
  ['apps/console/src/ui/a2.tsx', "import 'react-router'", 'ui knows no router'],
  ['apps/console/src/ui/a3.tsx', "import '../api/client.ts'", 'ui knows no router'],
  ['apps/console/src/ui/a4.tsx', "import '../components/Badge.tsx'", 'ui knows no router'],
  ['apps/console/src/util/a1.ts', "import '../ui/Button.tsx'", 'bottom of the console'],
  ['apps/console/src/util/a2.ts', "import './time.ts'"],
  ['scripts/lib/a1.ts', "import '../../apps/server/src/config.ts'"],
  ['scripts/a2.ts', "import '@postern/testkit/api'", 'Only tests use the testkit'],
  ['scripts/lib/a3.ts', "import 'node:child_process'", 'exec.ts only'],
  ['tests/net/a1.test.ts', "import '@postern/testkit/api'"],
  ['packages/testkit/src/a1.ts', "import 'node:child_process'"],
  ['apps/server/src/b1.ts', 'export const a = process.env', 'process.env'],
  ['apps/server/src/config.ts', 'export const a = process.env'],
  ['apps/edge/src/b1.ts', 'export const a = process.env', 'process.env'],
  ['apps/agent/src/b1.ts', 'export const a = process.env', 'process.env'],
  ['packages/contract/src/b1.ts', 'export const a = process.env', 'process.env'],
  ['scripts/b1.ts', 'export const a = process.env'],
]

const tree = mkdtempSync(join(tmpdir(), 'boundaries-'))
let said = ''

beforeAll(() => {
  cpSync(join(ROOT, 'biome.json'), join(tree, 'biome.json'))
  // The copy has no repository around it, and so no .gitignore.
  const config = JSON.parse(readFileSync(join(tree, 'biome.json'), 'utf8'))
  writeFileSync(join(tree, 'biome.json'), JSON.stringify({ ...config, $schema: undefined, vcs: undefined }))
  for (const [file, code] of CASES) {
    mkdirSync(dirname(join(tree, file)), { recursive: true })
    writeFileSync(join(tree, file), `${code}\n`)
  }
  const args = ['lint', '--max-diagnostics=none', '--colors=off', '.']
  const biome = join(ROOT, 'node_modules/.bin/biome')
  const { stdout, stderr } = spawnSync(biome, args, { cwd: tree, encoding: 'utf8', timeout: 30_000 })
  said = stdout + stderr
}, 60_000)

afterAll(() => rmSync(tree, { recursive: true, force: true }))

const OF_OURS = /^\S+ lint\/style\/(noRestrictedImports|noProcessEnv)/

/** What the two rules said about one file. */
const about = (file: string) =>
  said
    .split(/\n(?=\S+:\d+:\d+ lint\/)/)
    .filter((part) => part.startsWith(`${file}:`) && OF_OURS.test(part))
    .join('\n')

test.each(CASES)('%s: %s', (file, _, reason) => {
  if (reason === undefined) expect(about(file)).toBe('')
  else expect(about(file)).toContain(reason)
})
