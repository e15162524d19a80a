import { chmodSync, copyFileSync, existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { must, run } from '@postern/testkit/processes/exec'
import { shared } from '@postern/testkit/shared'
import { beforeAll, expect, test } from 'vitest'
import { TOKEN } from './edge-end.ts'
import { createLab, isReachable } from './lab.ts'

/** The single file that people install, run by the system's Node, which is older than ours. */
let bundle = ''
const systemNode =
  process.env.POSTERN_TEST_NODE ?? (existsSync('/usr/bin/node') ? '/usr/bin/node' : process.execPath)
const lab = shared(createLab)
beforeAll(async () => {
  const build = fileURLToPath(new URL('../../../apps/agent/build.ts', import.meta.url))
  // Outside our node_modules, and readable by any user.
  bundle = `${lab.directory}/postern`
  expect(await run([process.execPath, build, `${bundle}.mjs`])).toMatchObject({ code: 0, stderr: '' })
  copyFileSync(`${bundle}.mjs`, bundle)
  chmodSync(bundle, 0o755)
  chmodSync(lab.directory, 0o755)
})

test('it runs on its own, whatever its name', async () => {
  const manifest = new URL('../../../apps/agent/package.json', import.meta.url)
  const { version } = JSON.parse(readFileSync(manifest, 'utf8'))
  expect(await must([systemNode, `${bundle}.mjs`, '--version'])).toBe(`${version}\n`)
  expect(await must([systemNode, `${bundle}.mjs`, '--help'])).toContain('Exit codes:')
  expect(readFileSync(bundle, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
})

test('without root it says so', async () => {
  const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
  const outcome = await run([...nobody, systemNode, `${bundle}.mjs`, 'status'])
  expect(outcome).toMatchObject({ code: 3, stderr: expect.stringContaining('Root is required') })
})

test('it connects, reports its state and disconnects', async () => {
  const agent = lab.runAgent([systemNode, bundle])
  const args = ['connect', '--url=https://203.0.113.1', `--token=${TOKEN}`, '--interface', lab.links.agent]
  const outcome = await agent([...args, '--fingerprint', lab.authority.fingerprint])
  expect(outcome).toMatchObject({ code: 0, stderr: '' })
  expect(outcome.stdout).toContain('Connection established!')
  expect(readFileSync(`/proc/${lab.daemonPid()}/cmdline`, 'utf8')).toContain(bundle)
  expect(await agent(['status', '--health'])).toMatchObject({ code: 0, stdout: 'online\n' })
  expect(await isReachable(lab.node, '10.64.0.1')).toBe(true)
  expect((await agent(['disconnect', '--forget'])).code).toBe(0)
})
