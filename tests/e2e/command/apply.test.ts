import { writeFileSync } from 'node:fs'
import { shared } from '@postern/testkit/shared'
import { beforeAll, expect, it } from 'vitest'
import { startCommandLab } from './lab.ts'

const lab = shared(startCommandLab)
const file = () => `${lab.home}/postern.yaml`

beforeAll(async () => {
  const { token } = await lab.makeToken()
  await lab.postern(['login', lab.site.origin, '--token', '-'], { input: token })
})

const FILE = `nodes:
  - name: office
    isGateway: true
    gatewayNetworks: [{ interface: eth0, subnet: 192.168.1.0/24 }]
  - name: laptop
    enabled: false
domains:
  - domain: Wiki.example.com
    skipValidation: true
services:
  - name: wiki
    node: office
    domain: wiki.example.com
    backendHost: 192.168.1.20
    backendPort: 8080
    allowedIps: [203.0.113.7/32, 10.1.2.3/8]
  - name: db
    node: office
    type: tcp
    backendHost: 192.168.1.21
    backendPort: 5432
  - name: game
    node: office
    type: udp
    port: 32670
    backendHost: 192.168.1.22
    backendPort: 34197
    enabled: false
`

it('makes a server as a file says, shows what it would do before, and does nothing twice', async () => {
  writeFileSync(file(), FILE)
  const before = await lab.postern(['diff', file()])
  expect(before).toMatchObject({ code: 19, stderr: '' })
  expect(before.stdout.split('\n').filter(Boolean)).toEqual([
    ...['+ node office', '+ node laptop', '+ domain wiki.example.com', '+ http service wiki on office'],
    ...['+ tcp service db on office', '+ udp service game on office'],
  ])
  expect(await lab.must('apply', file(), '--yes')).toContain('Done: 6 changes')
  expect(await lab.must('diff', file())).toBe('')
  expect(await lab.must('apply', file(), '--yes')).toContain('Nothing to do')
  const services = JSON.parse(await lab.must('ls', '--json'))
  expect(services).toMatchObject([
    { name: 'db', port: 32_660, enabled: true },
    { name: 'game', proto: 'udp', port: 32_670, enabled: false },
    { name: 'wiki', allowedIps: ['203.0.113.7', '10.0.0.0/8'], backendHost: '192.168.1.20' },
  ])
})

it('what it exports is the same, and changes go field by field', async () => {
  const text = await lab.must('export')
  writeFileSync(file(), text)
  expect(await lab.must('diff', file(), '--prune')).toBe('')
  writeFileSync(file(), text.replace('backendPort: 8080', 'backendPort: 9090'))
  const changed = await lab.postern(['diff', file()])
  expect(changed).toMatchObject({
    code: 19,
    stdout: '~ http service wiki on office\n    backendPort: 8080 -> 9090\n',
  })
  const [step] = JSON.parse((await lab.postern(['diff', file(), '--json'])).stdout).steps
  expect(step).toMatchObject({ act: 'update', changes: [{ field: 'backendPort', from: 8080, to: 9090 }] })
  await lab.must('apply', file(), '--yes')
  expect(await lab.must('diff', file())).toBe('')
})

it('deletes only with --prune, only kinds that the file lists, and asks', async () => {
  writeFileSync(file(), 'services:\n  - { name: db, node: office, type: tcp, backendPort: 5432 }\n')
  expect(await lab.must('apply', file(), '--yes')).toContain(
    'http service wiki on office is not in the file, and stays',
  )
  const unasked = await lab.postern(['apply', file(), '--prune'])
  expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining('Nobody can be asked here') })
  expect(await lab.must('apply', file(), '--prune', '--yes')).toContain('- http service wiki on office')
  const names = (text: string) => JSON.parse(text).map(({ name }: { name: string }) => name)
  expect(names(await lab.must('ls', '--json'))).toEqual(['db'])
  expect(names(await lab.must('ls', 'nodes', '--json'))).toEqual(['Local', 'office', 'laptop'])
})

it('says in which line a file is wrong, and asks the server nothing', async () => {
  writeFileSync(file(), 'services:\n  - name: x\n    node: office\n    domian: x.example.com\n')
  const env = { POSTERN_URL: 'http://127.0.0.1:9', POSTERN_TOKEN: 'pta_x' }
  expect(await lab.postern(['apply', file(), '--yes'], { env })).toMatchObject({
    code: 2,
    stderr: `postern: ${file()} is not usable:\n  line 4: domian is not a field of a service\n`,
  })
})

it('stops at the first step that the server refuses, and says which', async () => {
  const text = 'services:\n  - { name: x, node: office, type: tcp, backendHost: 8.8.8.8, backendPort: 1 }\n'
  writeFileSync(file(), text)
  const refused = await lab.postern(['apply', file(), '--yes'])
  expect(refused.code).toBe(18)
  expect(refused.stderr).toContain('tcp service x on office: ')
  expect(refused.stderr).toContain('backendHost: must be inside the networks of office')
  expect(refused.stderr).toContain('1 of 1 steps are not done')
})
