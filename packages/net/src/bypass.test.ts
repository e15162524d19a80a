import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { compileExpressions, parseBypass } from './bypass.ts'

const count = (line: string) => compileExpressions(line)?.length
const faultsOf = (text: string) => parseBypass(text).problems

describe('an expression', () => {
  it.each([
    ['^/(api|static)/', ['^/api/', '^/static/']],
    ['^/a|^/b', ['^/a', '^/b']],
    ['^/a|b', ['^/a', '^b']],
    ['^(/a|/b)$', ['^/a$', '^/b$']],
    ['^/a$|/b', ['^/a$', '^/b']],
    ['^/(?:a|b(c|d))e', ['^/ae', '^/bce', '^/bde']],
    ['^/api(/v[12]+)?/x', ['^/api/v[12]+/x', '^/api/x']],
    ['^/[(|)]+', ['^/[(|)]+']],
    ['^/(a|a)', ['^/a']],
  ])('%s is the same as %j', (line, lines) => {
    expect(compileExpressions(line)).toEqual(lines.flatMap((each) => compileExpressions(each) ?? ['none']))
    expect(faultsOf(line)).toEqual([])
  })

  it.each([
    '^/(a|b)+',
    '^/(a|b)*',
    '^/(a|b){2}',
    '^/(a?)??',
    '^/a|',
    '^(|/a)',
    '^|/a',
    '^(/a)?',
    '^/a(?=b)',
    '^/a(?!b)',
    '^/(a$|b)c',
    '^/(^/a|b)',
    `^/${'(a|b)'.repeat(6)}`,
    `^/${'a'.repeat(199)}`,
    `^/${'(a)?'.repeat(40)}`,
  ])('%s is refused, although it is one elsewhere', (line) => {
    expect(faultsOf(line)).toEqual([{ line: 1, fault: 'complex' }])
  })

  it('counts each alternative', () => {
    expect(count('^/(a|b)(c|d)(e|f)(g|h)(i|j)')).toBe(32)
    const line = '^/(a|b)(c|d)(e|f)(g|h)'
    expect(faultsOf([line, line, line].join('\n'))).toEqual([])
    expect(faultsOf([line, line, line, '/a', '/b', '^/(a|b)'].join('\n'))).toEqual([
      { line: 6, fault: 'many' },
    ])
  })
})

/** As HAProxy's Lua reads a compiled one. */
function matches(program: string, path: string): boolean {
  const parts = program.slice(1).split(':').filter(Boolean)
  const source = parts.map((part) => {
    const ranges = part
      .slice(1)
      .split('.')
      .map((range) => range.replace(/[0-9a-f]{2}/g, '\\x$&'))
    return `[${ranges.join('')}]${{ o: '', q: '?', s: '*', p: '+' }[part.charAt(0)]}`
  })
  return new RegExp(`^${source.join('')}${program.startsWith('w') ? '$' : ''}`).test(path)
}

test('an expression opens what it matches in JavaScript, with every alternative at the start', () => {
  const text = fc
    .array(
      fc.constantFrom('/', 'a', 'b', '.', '[ab]', '(', '(?:', ')', ')', '|', '?', '+', '{2}', '$', '^'),
      {
        maxLength: 12,
      },
    )
    .map((all) => `^/${all.join('')}`)
  const path = fc
    .array(fc.constantFrom('/', 'a', 'b', 'c'), { maxLength: 6 })
    .map((all) => `/${all.join('')}`)
  let accepted = 0
  fc.assert(
    fc.property(text, fc.array(path, { minLength: 5, maxLength: 5 }), (line, paths) => {
      const programs = faultsOf(line).length === 0 ? compileExpressions(line) : undefined
      if (!programs) return
      accepted++
      const elsewhere = new RegExp(`^(?:${line.slice(1)})`)
      for (const each of paths)
        expect([line, each, programs.some((program) => matches(program, each))]).toEqual([
          line,
          each,
          elsewhere.test(each),
        ])
    }),
    { numRuns: 5000 },
  )
  expect(accepted).toBeGreaterThan(300)
})
