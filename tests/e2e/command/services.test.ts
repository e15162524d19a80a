import { readFileSync, statSync } from 'node:fs'
import type { Service } from '@postern/contract/services/services'
import { shared } from '@postern/testkit/shared'
import { beforeAll, describe, expect, it } from 'vitest'
import { startCommandLab } from './lab.ts'

const lab = shared(startCommandLab)
const json = async (...args: string[]) => JSON.parse(await lab.must(...args, '--json'))
const fails = async (...args: string[]) => {
  const { code, stdout, stderr } = await lab.postern(args)
  expect(stdout).toBe('')
  return { code, stderr }
}

beforeAll(async () => {
  await lab.site.api.createNode({ name: 'office' })
  await lab.site.api.createDomain({ domain: 'wiki.example.com' })
})

describe('signing in', () => {
  it('is asked for first', async () => {
    expect(await fails('ls')).toEqual({
      code: 15,
      stderr: 'postern: Sign in first: postern login https://SERVER\n',
    })
    expect((await fails('ls', '--server', 'other')).stderr).toContain(
      'other is not a server you are signed in to',
    )
  })

  it('needs a token that the server knows, of a person', async () => {
    const unknown = await lab.postern(['login', lab.site.origin, '--token', '-'], {
      input: `pta_${'x'.repeat(43)}`,
    })
    expect(unknown).toMatchObject({ code: 7, stdout: '' })
    const node = await lab.site.api.createNode({ name: 'other' })
    const ofNode = await lab.postern(['login', lab.site.origin, '--token', '-'], { input: node.token })
    expect(ofNode).toMatchObject({ code: 2, stderr: expect.stringContaining("That is a node's token") })
    expect((await fails('login', 'http://example.com', '--token', 'x')).stderr).toContain(
      'must begin with https://',
    )
  })

  it('keeps the token for this user only', async () => {
    const { token } = await lab.makeToken()
    const done = await lab.postern(['login', lab.site.origin, '--token', '-', '--name', 'home'], {
      input: token,
    })
    expect(done).toMatchObject({ code: 0, stderr: '' })
    expect(done.stdout).toContain('Signed in to home as admin (admin)')
    expect(done.stdout).not.toContain(token)
    const file = `${lab.home}/.config/postern/servers.json`
    expect(readFileSync(file, 'utf8')).toContain(token)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(`${lab.home}/.config/postern`).mode & 0o777).toBe(0o700)
    expect(await json('ls', 'servers')).toEqual([{ name: 'home', url: lab.site.origin, isCurrent: true }])
  })

  it('is not needed where the environment has a token', async () => {
    const { token } = await lab.makeToken({ role: 'viewer' })
    const env = { HOME: '/nonexistent', POSTERN_URL: lab.site.origin, POSTERN_TOKEN: token }
    expect((await lab.postern(['ls', 'nodes'], { env })).stdout).toContain('office')
    const refused = await lab.postern(['http', '8080', '--domain', 'a.example.com', '--node', 'office'], {
      env,
    })
    expect(refused).toMatchObject({ code: 16, stderr: expect.stringContaining('does not allow this') })
  })
})

describe('a service', () => {
  const find = async (name: string): Promise<Service | undefined> =>
    (await json('ls')).find((service: Service) => service.name === name)

  it('is published, listed, changed, disabled, enabled and deleted', async () => {
    expect((await fails('http', '8080', '--domain', 'wiki.example.com')).stderr).toContain(
      'Say on which node: --node office, or --node other',
    )
    const options = [
      '--domain',
      'wiki.example.com',
      '--node',
      'office',
      '--ttl',
      '8h',
      '--allow',
      '10.0.0.0/8',
    ]
    expect(await lab.must('http', '8080', ...options)).toContain(
      'https://wiki.example.com/ -> http://office:8080',
    )
    const made = await find('wiki.example.com')
    expect(made).toMatchObject({ backendPort: 8080, allowedIps: ['10.0.0.0/8'] })
    expect(made?.endsAt).not.toBeNull()
    const table = await lab.must('ls', '--search', 'wiki')
    expect(table).toMatch(/^ID +NAME +KIND +NODE +STATE +ADDRESS +LEADS TO\n/)
    expect(table).toMatch(/\d+ +wiki\.example\.com +http +office +applying +https:\/\/wiki\.example\.com\/ /)

    await lab.must(
      'edit',
      'https://wiki.example.com/',
      '--name',
      'wiki',
      '--ttl',
      'never',
      '--allow',
      'none',
      '--to',
      '9090',
    )
    expect(await find('wiki')).toMatchObject({
      id: made?.id,
      backendPort: 9090,
      allowedIps: [],
      endsAt: null,
    })
    await lab.must('disable', 'WIKI')
    expect(await find('wiki')).toMatchObject({ enabled: false })
    await lab.must('enable', `#${made?.id}`)
    expect(await find('wiki')).toMatchObject({ enabled: true })
    expect(await lab.must('rm', String(made?.id))).toBe(`Deleted wiki (${made?.id})\n`)
    expect(await find('wiki')).toBeUndefined()
    expect(await fails('rm', 'wiki')).toEqual({ code: 17, stderr: 'postern: There is no service “wiki”\n' })
  })

  it('over TCP and UDP has a public port', async () => {
    const tcp = await json('tcp', '5432', '--node', 'office', '--name', 'db', '--port', '32670')
    expect(tcp).toMatchObject({ type: 'tcp', proto: 'tcp', port: 32_670, backendPort: 5432 })
    const udp = await json('udp', '53', '--node', 'office', '--name', 'dns')
    expect(udp).toMatchObject({ proto: 'udp', port: 32_660 })
    expect((await json('ls', '--kind', 'udp')).map(({ name }: Service) => name)).toEqual(['dns'])
    for (const name of ['db', 'dns']) await lab.must('rm', name)
  })

  it('is refused with the fields that are wrong, in text and in JSON', async () => {
    const args = ['tcp', '5432', '--node', 'office', '--port', '80', '--allow', 'x']
    const { code, stderr } = await fails(...args)
    expect(code).toBe(18)
    expect(stderr).toContain('allowedIps.0: Enter an IP address or network')
    const answer = await lab.postern([...args, '--json'])
    expect(answer).toMatchObject({ code: 18, stderr: '' })
    expect(JSON.parse(answer.stdout).error.code).toBe('refused')
  })

  it('with a name of several needs an id', async () => {
    const [first, second] = [
      await json('tcp', '1', '--node', 'office', '--name', 'twin'),
      await json('tcp', '2', '--node', 'other', '--name', 'twin'),
    ]
    expect((await fails('rm', 'twin')).stderr).toBe(
      `postern: 2 services are called “twin”. Use an id: ${first.id} (on office), ${second.id} (on other)\n`,
    )
    for (const { id } of [first, second]) await lab.must('rm', String(id))
  })

  it.each([
    [['http'], 'Give the port of a program, or HOST:PORT'],
    [['http', '99999'], 'The port of the program must be a port from 1 to 65535'],
    [['tcp', 'https://x:1'], 'http:// and https:// are for postern http'],
    [['http', 'a b'], 'is not where a program listens'],
    [['http', '80', '--ttl', 'soon'], '--ttl must be a time like 90m'],
    [['edit', 'wiki'], 'Say what to change'],
    [['edit', '--name', 'x'], 'Name a service'],
    [['ls', 'cats'], 'cats cannot be listed'],
    [['ls', '--nothing'], "Unknown option '--nothing'"],
  ])('%j is refused before anything is sent', async (args, words) => {
    const { code, stderr } = await fails(...args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)])
  })
})

it('signing out forgets the token', async () => {
  expect(await lab.must('logout')).toBe('The token for home was removed\n')
  expect((await fails('ls')).code).toBe(15)
  expect(readFileSync(`${lab.home}/.config/postern/servers.json`, 'utf8')).not.toContain('pta_')
})
