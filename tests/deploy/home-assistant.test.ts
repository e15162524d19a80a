import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { must } from '@postern/testkit/processes/exec'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readOptions, servicesOf } from '../../deploy/home-assistant/postern/options.mjs'
import { CONFIG_SCHEMA, DEFAULTS, REPOSITORY_SCHEMA, TRANSLATIONS_SCHEMA } from './add-on.schema.ts'

const ROOT = join(import.meta.dirname, '../..')
const ADD_ON = join(ROOT, 'deploy/home-assistant/postern')
const read = (path: string) => readFileSync(join(ADD_ON, path), 'utf8')
const config: Record<string, unknown> = parse(read('config.yaml'))
const fields = config.schema as Record<string, string>
const words: Record<string, { name: string; description: string }> = parse(
  read('translations/en.yaml'),
).configuration

/** The faults of a value, one per line. */
function findFaults(schema: object, value: unknown): string[] {
  const isRight = new Ajv({ allErrors: true, strictTuples: false }).compile(schema)
  return isRight(value) ? [] : (isRight.errors ?? []).map((each) => `${each.instancePath} ${each.message}`)
}

describe('the add-on as Home Assistant reads it', () => {
  test('is valid for its Supervisor', () => {
    expect(findFaults(CONFIG_SCHEMA, config)).toEqual([])
    expect(findFaults(TRANSLATIONS_SCHEMA, parse(read('translations/en.yaml')))).toEqual([])
    const repository = readFileSync(join(ADD_ON, '../repository.yaml'), 'utf8')
    expect(findFaults(REPOSITORY_SCHEMA, parse(repository))).toEqual([])
    const again = Object.keys(DEFAULTS).filter((name) => config[name] === DEFAULTS[name])
    expect(again).toEqual([])
  })

  test.each<[string, object]>([
    ['an unknown field', { privilegd: ['NET_ADMIN'] }],
    ['an unknown right', { privileged: ['NET_ADMN'] }],
    ['an unknown processor', { arch: ['amd64', 'arm64'] }],
    ['a device with rights behind it', { devices: ['/dev/net/tun:/dev/net/tun:rwm'] }],
    ['a kind of option that there is not', { schema: { url: 'adress' } }],
    ['a version that is no version', { version: 'latest' }],
    ['a text for a switch', { tmpfs: 'yes' }],
    ['no name', { name: undefined }],
  ])('would be refused with %s', (_, change) => {
    expect(findFaults(CONFIG_SCHEMA, JSON.parse(JSON.stringify({ ...config, ...change })))).not.toEqual([])
  })

  test('asks for one right and one device, and for none of Home Assistant’s own', () => {
    expect(config.privileged).toEqual(['NET_ADMIN'])
    expect(config.devices).toEqual(['/dev/net/tun'])
    const wide =
      'host_network host_pid host_dbus host_ipc full_access docker_api hassio_api homeassistant_api map ports'
    expect(wide.split(' ').filter((name) => name in config)).toEqual([])
  })

  test('has the version of this repository, in the changelog too', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
    expect(config.version).toBe(version)
    expect(read('CHANGELOG.md')).toContain(`## ${version}\n`)
  })

  test('explains each option, as does the documentation', () => {
    expect(Object.keys(words)).toEqual(Object.keys(fields))
    expect(Object.keys(config.options as object)).toEqual(Object.keys(fields))
    const docs = read('DOCS.md')
    expect(Object.values(words).filter(({ name }) => !docs.includes(`**${name}**`))).toEqual([])
  })

  test('hides the token as it is typed, and does not start without it', () => {
    expect(fields).toMatchObject({ url: 'url', token: 'password' })
    expect(config.options).toMatchObject({ url: null, token: null })
  })

  test('has pictures of the sizes that it shows', () => {
    const sizeOf = (name: string) => {
      const picture = readFileSync(join(ADD_ON, name))
      expect(picture.subarray(1, 4).toString()).toBe('PNG')
      return [picture.readUInt32BE(16), picture.readUInt32BE(20)]
    }
    expect(sizeOf('icon.png')).toEqual([128, 128])
    expect(sizeOf('logo.png')).toEqual([250, 100])
  })

  test('copies into its image only what its folder has, and the agent', () => {
    const [, names = ''] = /^COPY (.+) \/opt\/postern\/$/m.exec(read('Dockerfile')) ?? []
    const there = new Set([...readdirSync(ADD_ON), 'postern.mjs'])
    expect(names.split(' ')).toContain('postern.mjs')
    expect(names.split(' ').filter((name) => !there.has(name))).toEqual([])
  })
})

const URL_OF_SERVER = 'https://postern.example.com'
const GOOD = {
  url: URL_OF_SERVER,
  token: 'ptn_0123',
  fingerprint: '',
  publish_home_assistant: false,
  domain: '',
}
const optionsOf = (change: object) => readOptions(JSON.stringify({ ...GOOD, ...change }))

describe('the options', () => {
  test("become the agent's configuration", () => {
    const { wanted, problems } = optionsOf({ publish_home_assistant: true, domain: ' Home.Example.com ' })
    expect(problems).toEqual([])
    expect(wanted).toEqual({
      url: URL_OF_SERVER,
      token: 'ptn_0123',
      fingerprint: '',
      domain: 'Home.Example.com',
    })
    expect(servicesOf(wanted.domain)).toEqual([
      expect.objectContaining({ type: 'http', domain: 'home.example.com', backendPort: 8123 }),
    ])
  })

  test('publish nothing while the switch is off, whatever the domain is', () => {
    const { wanted, problems } = optionsOf({ domain: 'not a domain' })
    expect({ problems, services: servicesOf(wanted.domain) }).toEqual({ problems: [], services: [] })
    // Only the switch itself turns it on, not a text that looks like it.
    expect(
      optionsOf({ publish_home_assistant: 'true', domain: 'home.example.com' }).wanted.domain,
    ).toBeUndefined()
  })

  test.each<[string, object, string]>([
    ['no server', { url: null }, 'Server'],
    ['a server without https', { url: 'http://postern.example.com' }, 'Server'],
    ['a server with a path', { url: `${URL_OF_SERVER}/nodes` }, 'Server'],
    ['a server that hides another', { url: 'https://postern.example.com@evil.example' }, 'Server'],
    ['no token', { token: '' }, 'Access token'],
    ['a token of two lines', { token: 'ptn_1\nX-Evil: 1' }, 'Access token'],
    ['a token that is a list', { token: ['ptn_1'] }, 'Access token'],
    ['half a fingerprint', { fingerprint: 'sha256:00ff' }, 'Fingerprint'],
    ['no domain', { publish_home_assistant: true }, 'Domain'],
    ['an address as domain', { publish_home_assistant: true, domain: 'https://home.example.com/' }, 'Domain'],
    ['a shell’s words', { publish_home_assistant: true, domain: '$(reboot).example.com' }, 'Domain'],
    ['a domain of two lines', { publish_home_assistant: true, domain: 'a.example\nb.example' }, 'Domain'],
  ])('%s is reported in the words of the form', (_, change, name) => {
    const { problems } = optionsOf(change)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(new RegExp(`^${name}: `))
    expect(Object.values(words).map((each) => each.name)).toContain(name)
  })

  test.each(['', 'null', '[]', '"x"', '{', '{"url":{}}'])(
    'a file %j is reported and breaks nothing',
    (text) => {
      expect(readOptions(text).problems).toHaveLength(2)
    },
  )

  test('no problem shows a secret', () => {
    const { problems } = optionsOf({ token: 'ptn secret', fingerprint: 'sha256:secret' })
    expect(problems).toHaveLength(2)
    expect(problems.join()).not.toContain('ptn secret')
  })
})

test.each(['run.sh', 'as-postern.sh'])(
  'the script %s prints no option and stores no secret',
  async (name) => {
    await must(['sh', '-n', join(ADD_ON, name)])
    const lines = read(name)
      .split('\n')
      .filter((line) => !line.startsWith('#'))
    expect(Object.keys(fields).filter((field) => lines.some((line) => line.includes(field)))).toEqual([])
    expect(lines.join('\n')).not.toMatch(/\$\(|`|\beval\b|POSTERN_TOKEN|SUPERVISOR_TOKEN/)
  },
)
