import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { tempDir } from '@postern/testkit/temp-dir'
import { beforeAll, expect, test } from 'vitest'
import { findViolations, type Violation } from './lib/checks/import-check.ts'

const ROOT = join(import.meta.dirname, '..')

/** [file, its text, words of the expected reason; without them it must pass] */
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
  ['packages/render/src/a1.ts', "import '@postern/contract/edge/edge'"],
  ['packages/render/src/a2.ts', "import 'node:fs'", 'packages/render is pure'],
  ['packages/render/src/a3.ts', "import '../../../apps/edge/src/exec.ts'", 'packages/render is pure'],
  ['apps/edge/src/a1.ts', "import '@postern/render/x'"],
  ['apps/edge/src/a2.ts', "import '../../server/src/app.ts'", 'Apps never import apps'],
  ['apps/edge/src/drivers/a3.ts', "import '../../../server/src/app.ts'", 'Apps never import apps'],
  ['apps/edge/src/a4.ts', "import '@postern/testkit/api'", 'Only tests use the testkit'],
  ['apps/edge/src/a5.ts', "import 'node:child_process'", 'packages/host/src/processes/exec.ts only'],
  ['apps/edge/src/exec.ts', "import 'node:child_process'", 'packages/host/src/processes/exec.ts only'],
  ['apps/edge/src/a8.ts', "import '@postern/host/processes/exec'"],
  ['apps/edge/src/a6.test.ts', "import '@postern/testkit/api'"],
  ['apps/edge/src/a7.test.ts', "import 'node:child_process'"],
  ['apps/agent/src/a1.ts', "import '@postern/contract/agent/agent'"],
  ['apps/agent/src/a2.ts', "import '@postern/render/x'", 'import no renderer'],
  ['apps/agent/src/a3.ts', "import '../../edge/src/exec.ts'", 'Apps never import apps'],
  ['apps/agent/src/a4.ts', "import 'node:child_process'", 'packages/host/src/processes/exec.ts only'],
  ['apps/agent/src/a6.ts', "import '@postern/host/processes/exec'"],
  ['apps/agent/src/a5.ts', "import '@postern/testkit/api'", 'Only tests use the testkit'],
  ['apps/server/src/a1.ts', "import 'node:child_process'", 'The server starts no other programs'],
  ['apps/server/src/exec.ts', "import 'node:child_process'", 'The server starts no other programs'],
  ['apps/server/src/a4.ts', "import '@postern/host/processes/exec'", 'The server starts no other programs'],
  ['apps/server/src/a5.ts', "import '@postern/host/wireguard-keys'"],
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
  ['apps/console/src/a3.ts', "import '@postern/render/x'", 'import no renderer'],
  ['apps/console/src/a4.ts', "import '../../server/src/app.ts'", 'Apps never import apps'],
  ['apps/console/src/a6.ts', "import '@postern/host/wireguard-keys'", 'no machine of ours'],
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
  ['apps/console/src/ui/input/a1.tsx', "import '../../api/client.ts'", 'ui knows no router'],
  ['apps/console/src/ui/a4.tsx', "import '../components/Badge.tsx'", 'ui knows no router'],
  ['apps/console/src/util/a1.ts', "import '../ui/Button.tsx'", 'bottom of the console'],
  ['apps/console/src/util/a2.ts', "import './time.ts'"],
  ['scripts/lib/a1.ts', "import '../../apps/server/src/config.ts'"],
  ['scripts/a2.ts', "import '@postern/testkit/api'", 'Only tests use the testkit'],
  ['scripts/lib/a3.ts', "import 'node:child_process'", 'packages/host/src/processes/exec.ts only'],
  ['scripts/lib/a4.ts', "import '@postern/host/processes/exec'"],
  ['packages/host/src/a1.ts', "import 'node:fs'"],
  ['packages/host/src/a2.ts', "import '@postern/net/ip'", 'it imports Node only'],
  ['packages/host/src/a3.ts', "import 'node:child_process'", 'packages/host/src/processes/exec.ts only'],
  ['packages/host/src/processes/exec.ts', "import 'node:child_process'"],
  ['packages/contract/src/a6.ts', "import '@postern/host/processes/exec'", 'packages/net and zod/mini only'],
  ['tests/net/a1.test.ts', "import '@postern/testkit/api'"],
  ['packages/testkit/src/a1.ts', "import 'node:child_process'"],
  ['apps/server/src/c1.ts', "import './c2.ts'", 'in a circle'],
  ['apps/server/src/c2.ts', "import './c3.ts'", 'in a circle'],
  ['apps/server/src/c3.ts', "import './c1.ts'", 'in a circle'],
]

/** The repository's file that a case imports, if any. */
function targetOf(file: string, code: string): string[] {
  const [, spec = ''] = /'(.+)'/.exec(code) ?? []
  if (spec.startsWith('.')) return [join(dirname(file), spec)]
  return spec.startsWith('@postern/') ? [`packages/${spec.slice(9).replace('/', '/src/')}.ts`] : []
}

const tree = tempDir()
let violations: Violation[] = []

beforeAll(async () => {
  const targets = CASES.flatMap(([file, code]) => targetOf(file, code))
  for (const [file, code] of [...targets.map((file): [string, string] => [file, '']), ...CASES]) {
    mkdirSync(dirname(join(tree, file)), { recursive: true })
    writeFileSync(join(tree, file), `${code}\n`)
  }
  mkdirSync(join(tree, 'bench'))
  mkdirSync(join(tree, 'node_modules/@postern'), { recursive: true })
  for (const name of ['net', 'contract', 'host', 'render', 'testkit']) {
    writeFileSync(join(tree, `packages/${name}/package.json`), '{"exports":{"./*":"./src/*.ts"}}')
    symlinkSync(join(tree, 'packages', name), join(tree, 'node_modules/@postern', name))
  }
  for (const name of ['zod', 'fastify', 'react-router', 'vitest'])
    symlinkSync(join(ROOT, 'node_modules', name), join(tree, 'node_modules', name))
  violations = await findViolations(tree)
})

test.each(CASES)('%s: %s', (file, _, reason) => {
  const reasons = violations.filter(({ files }) => files.includes(file)).map(({ because }) => because)
  if (reason === undefined) expect(reasons).toEqual([])
  else expect(reasons.join()).toContain(reason)
})

test('the whole repository keeps the rules, and there are no import circles', async () => {
  expect(await findViolations(ROOT)).toEqual([])
})
