import { readFileSync } from 'node:fs'
import type { HttpService } from '@postern/contract/services/services'
import { must } from '@postern/testkit/processes/exec'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { tempDir } from '@postern/testkit/temp-dir'
import { expect, it } from 'vitest'
import { CONFIRMED } from '../../../test/programs-lab.ts'

const GUIDE = readFileSync(new URL('../../../../../docs/api.md', import.meta.url), 'utf8')

const server = shared(startTestServer)
const dir = tempDir()

it('the example of the guide publishes a service with a token, and leaves nothing behind', async () => {
  const origin = await server.listen()
  const client = await server.signIn()
  const node = await client.createNode({ name: 'office' })
  await client.createDomain({ domain: 'wiki.example.com', skipValidation: true })
  const example = /^```bash\n(.*?)^```$/ms.exec(GUIDE)?.[1] ?? ''
  const script = example.replace('https://postern.example.com', origin)
  // It writes a file where it runs.
  const lines = `cd ${dir} && set -euo pipefail\n${script}\nls -A`
  const { token } = (await client.post('/api/tokens', { name: 'guide', role: 'editor', ...CONFIRMED })).json()
  const printed = await must(['bash', '-c', lines], { input: `${token}\n` })
  expect(printed).toMatch(/"publicAccess": "https:\/\/wiki\.example\.com.*"/)
  expect(printed).toMatch(/^"(applying|node-offline)"$/m)
  const listed = (await client.get(`/api/services/${node.id}/http`)).json() as HttpService[]
  expect(listed).toMatchObject([{ name: 'wiki', domain: 'wiki.example.com', backendPort: 8080 }])
  expect(printed.trim().split('\n').at(-1)).not.toBe('header')
})
