import type { Node } from '@postern/contract/nodes'
import { describe, expect, it } from 'vitest'
import { parseManifest } from './manifest.ts'
import { makePlan } from './plan.ts'

const faultsOf = (text: string): string => {
  try {
    parseManifest(text, 'postern.yaml')
  } catch (error) {
    return String(error)
  }
  return ''
}

describe('a file', () => {
  it.each([
    [
      'services:\n  - name: a\n    node: n\n    domian: x.example.com\n',
      'line 4: domian is not a field of a service',
    ],
    ['services:\n  - name: a\n    node: n\n    ttl: 1h\n', 'line 4: ttl is not a field of a service'],
    [
      'services:\n  - { name: a, node: n, type: tcp, pathLocation: / }\n',
      'line 2: pathLocation is not a field',
    ],
    ['services:\n  - name: a\n    type: http\n', 'line 2: A service needs its node, by name'],
    ['services:\n  - { node: n, type: icmp }\n', 'line 2: type must be http, tcp or udp'],
    ['\nmachines: []\n', 'line 2: machines is not known here'],
    ['nodes: office\n', 'line 1: nodes must be a list'],
    ['nodes:\n  - office\n', 'line 2: must be a record'],
    ['- a\n', 'line 1: The file must have nodes'],
    ['nodes:\n  - name: a\n  - name: b\n  - name: a\n', 'line 4: node a is in the file twice'],
    ['nodes:\n  - name: a\n    name: b\n', 'line 3: Map keys must be unique'],
    ['nodes: [\n', 'line 2: '],
    ['nodes:\n  - name: a\n    enabled: maybe\n', 'line 3: enabled must be true or false'],
    [
      'services:\n  - name: a\n    node: n\n    domain: a.example.com\n    allowedIps:\n      - 10.0.0.1\n      - x\n',
      'line 7: allowedIps.1: Enter an IP address or network',
    ],
    ['domains:\n  - domain: "*.example.com"\n', 'line 2: domain: Wildcards are not supported'],
  ])('%j is refused with its line', (text, words) => expect(faultsOf(text)).toContain(words))

  it('names everything that is wrong at once', () => {
    const found = faultsOf('nodes:\n  - name: ""\n    x: 1\ndomains:\n  - domain: a b\n')
    expect(found).toContain('line 3: x is not a field of a node')
    expect(found).toContain('line 5: domain: The domain must be in a valid format')
  })

  it('is no program: an alias that grows without end is refused', () => {
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'
      .split('')
      .map((letter, index) => `${letter}: &${letter} [${`*${'abcdefgh'[index]},`.repeat(9)}]`)
      .join('\n')}\nnodes:\n  - name: *i\n`
    expect(faultsOf(bomb)).toContain('is not usable')
  })

  it('is empty where it says nothing', () => {
    expect(parseManifest('', 'x')).toEqual({ nodes: undefined, domains: undefined, services: undefined })
  })
})

/** Only what a plan looks at. */
const node = (name: string, over: object = {}) =>
  ({ id: 1, name, isLocal: false, enabled: true, keepalive: 25, ...over }) as Node
const current = (...nodes: Node[]) => ({ nodes, domains: [], services: [] })

describe('a plan', () => {
  const manifest = parseManifest(
    'nodes:\n  - name: a\n    keepalive: 25\n  - name: b\n    keepalive: 10\n',
    'x',
  )

  it('makes what is missing and changes what differs, and only fields that the file names', () => {
    const { steps } = makePlan(
      manifest,
      current(node('a'), node('b', { keepalive: 20, dns: '1.1.1.1' })),
      false,
    )
    expect(steps).toMatchObject([{ act: 'update', changes: [{ field: 'keepalive', from: 20, to: 10 }] }])
    expect(makePlan(manifest, current(node('a')), false).steps).toMatchObject([{ act: 'create' }])
  })

  it('deletes only when it is asked to, and never this machine', () => {
    const rows = current(node('a'), node('b', { keepalive: 10 }), node('c'), node('local', { isLocal: true }))
    expect(makePlan(manifest, rows, false)).toMatchObject({ steps: [], kept: ['node c'] })
    expect(makePlan(manifest, rows, true).steps).toMatchObject([{ act: 'delete', key: 'node c' }])
  })

  it('guesses nothing where two records have a name', () => {
    expect(() => makePlan(manifest, current(node('a'), node('a')), false)).toThrow(
      '2 records are called node a',
    )
  })
})
