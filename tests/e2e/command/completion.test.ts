import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import type { Domain } from '@postern/contract/domains'
import type { Page } from '@postern/contract/lists'
import type { Service } from '@postern/contract/services/services'
import { shared } from '@postern/testkit/shared'
import { beforeAll, describe, expect, it } from 'vitest'
import { COMMAND, NODE, startCommandLab } from './lab.ts'
import { startOnTerminal } from './terminal.ts'

const lab = shared(startCommandLab)

const HOSTILE = [
  'my host',
  "it's $HOME",
  'say "hi"! now',
  '$(touch gone)',
  '`touch gone`',
  'a\\b;c|d&e>f',
  'db:main=1',
  'Zürich Süd',
]

beforeAll(async () => {
  const office = await lab.site.api.createNode({ name: 'office one' })
  await lab.site.api.createNode({ name: 'garage' })
  await lab.site.api.createDomain({ domain: 'wiki.example.com' })
  const names = [...HOSTILE, '-rf', ...Array.from({ length: 120 }, (_, at) => `many ${at}`)]
  for (const [at, name] of names.entries())
    await lab.site.api.call('POST', `/api/services/${office.id}/http`, {
      ...{ name, backendPort: 80, pathLocation: `/p${at}` },
    })
  const { token } = await lab.makeToken({ role: 'viewer' })
  await lab.postern(['login', lab.site.origin, '--token', '-', '--name', 'home'], { input: token })
  // The name on the path completes for real, and otherwise says what it was called with.
  mkdirSync(`${lab.home}/bin`)
  writeFileSync(
    `${lab.home}/bin/postern`,
    `#!/bin/sh\n[ "$1" = complete ] && exec '${NODE}' '${COMMAND}' "$@"\nprintf 'got'; printf '<%s>' "$@"; echo\n`,
  )
  chmodSync(`${lab.home}/bin/postern`, 0o755)
  writeFileSync(`${lab.home}/rc`, `PS1='ready> '\n${await lab.must('completion', 'bash')}\n`)
})

/** Types a line in a real bash with a tab at its end, then Enter. @returns the arguments that the command gets */
async function typed(line: string): Promise<string[]> {
  const env = {
    HOME: lab.home,
    PATH: `${lab.home}/bin:${process.env.PATH}`,
    TERM: 'dumb',
    LANG: 'C.UTF-8',
    INPUTRC: '/dev/null',
  }
  const bash = startOnTerminal(['bash', '--rcfile', `${lab.home}/rc`, '-i'], env)
  try {
    await bash.says(/ready> $/)
    bash.press(`${line}\t`)
    // A space follows a name that is complete, and what is printed last is on the screen by then.
    await bash.says(/ready> .* $/s)
    bash.press('\r')
    const [, all = ''] = await bash.says(/\ngot<(.*)>\n/)
    return all.split('><')
  } finally {
    await bash.close()
  }
}

describe('in a real bash', () => {
  it.each([
    ['postern rm my', ['rm', 'my host']],
    ['postern rm "my h', ['rm', 'my host']],
    ["postern edit it\\'", ['edit', "it's $HOME"]],
    ["postern edit 'it", ['edit', "it's $HOME"]],
    ['postern disable say', ['disable', 'say "hi"! now']],
    ['postern disable "say', ['disable', 'say "hi"! now']],
    ['postern enable \\$', ['enable', '$(touch gone)']],
    ["postern logs -f '`", ['logs', '-f', '`touch gone`']],
    ['postern logs a', ['logs', 'a\\b;c|d&e>f']],
    ['postern rm db:m', ['rm', 'db:main=1']],
    ['postern rm Zür', ['rm', 'Zürich Süd']],
    ['postern http 8080 --node off', ['http', '8080', '--node', 'office one']],
    ['postern http 8080 --node=off', ['http', '8080', '--node=office one']],
    ['postern http 8080 --domain w', ['http', '8080', '--domain', 'wiki.example.com']],
    ['postern rm --server h', ['rm', '--server', 'home']],
    ['postern rm --server home my', ['rm', '--server', 'home', 'my host']],
  ])('%s<Tab> is completed', async (line, args) => {
    expect(await typed(line)).toEqual(args)
  })
})

describe('the names', () => {
  const complete = async (words: string[], env: Record<string, string> = {}) => {
    const began = performance.now()
    const { code, stdout, stderr } = await lab.postern(['complete', ...words], { env })
    return { code, stderr, names: stdout.split('\n').slice(0, -1), took: performance.now() - began }
  }

  it('are at most a hundred, and none that looks like an option', async () => {
    const { names } = await complete(['zsh', 'rm', ''])
    expect(names.length).toBeGreaterThan(90)
    expect(names.length).toBeLessThanOrEqual(100)
    expect((await complete(['zsh', 'rm', 'many 11'])).names.sort()).toEqual(
      ['many 11', ...Array.from({ length: 10 }, (_, at) => `many 11${at}`)].sort(),
    )
    expect((await complete(['fish', 'rm', '-'])).names).toEqual([])
    expect((await lab.site.api.call('GET', '/api/services?search=-rf')).json as Service[]).toHaveLength(1)
  })

  it('stand as they are for zsh and fish', async () => {
    expect((await complete(['fish', 'edit', 'say'])).names).toEqual(['say "hi"! now'])
    expect((await complete(['zsh', 'http', '8080', '--node=off'])).names).toEqual(['office one'])
  })

  it.each([
    ['where nothing is named', ['zsh', 'http', '80']],
    ['for what is no command', ['zsh', 'nothing', '']],
    ['after the name', ['zsh', 'rm', 'my host', '']],
    ['with another server', ['zsh', 'rm', '--server', 'other', '']],
    ['whatever stands there', ['zsh', 'rm', '--help', '--json', '--nothing=1', 'zzz']],
    ['without any words', []],
  ])('are none %s', async (_, words) => {
    expect(await complete(words)).toMatchObject({ code: 0, stderr: '', names: [] })
  })

  it('are none for who is not signed in', async () => {
    expect(await complete(['zsh', 'rm', ''], { HOME: '/nonexistent' })).toMatchObject({
      code: 0,
      stderr: '',
      names: [],
    })
  })

  it('are none where the server does not answer in time', async () => {
    const silent = createServer(() => undefined)
    await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done))
    try {
      // A TCP server has this kind of address.
      const { port } = silent.address() as { port: number }
      const env = { POSTERN_URL: `http://127.0.0.1:${port}`, POSTERN_TOKEN: 'pta_x' }
      const { names, stderr, code, took } = await complete(['zsh', 'rm', ''], env)
      expect({ names, stderr, code }).toEqual({ names: [], stderr: '', code: 0 })
      // Two seconds are promised.
      expect(took).toBeLessThan(10_000)
    } finally {
      silent.close()
    }
  })

  it('have no line breaks and no control characters, whatever the server says', async () => {
    const page = (await lab.site.api.call('GET', '/api/domains?limit=10&page=1')).json as Page<Domain>
    const domains = ['good', 'two\nlines', 'bell\u0007', 'line\u2028break']
    const data = domains.map((domain) => ({ ...page.data[0], domain }))
    const liar = createHttpServer((_, answer) => {
      answer.setHeader('content-type', 'application/json')
      answer.end(JSON.stringify({ ...page, data }))
    })
    await new Promise<void>((done) => liar.listen(0, '127.0.0.1', done))
    try {
      // A TCP server has this kind of address.
      const { port } = liar.address() as { port: number }
      const env = { POSTERN_URL: `http://127.0.0.1:${port}`, POSTERN_TOKEN: 'pta_x' }
      expect((await complete(['zsh', 'ls', '--domain', ''], env)).names).toEqual(['good'])
    } finally {
      liar.close()
    }
  })

  it('are not in the help', async () => {
    expect(await lab.must('--help')).not.toMatch(/^ +complete /m)
    expect((await complete(['zsh', 'com'])).names).toEqual([])
  })
})
