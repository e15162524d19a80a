import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { readBashLine } from './bash-line.ts'

const wordsOf = (line: string) => readBashLine(line)?.words
const replace = (line: string, name: string) => readBashLine(line)?.replace(name)

test('words are read as bash reads them', () => {
  expect(wordsOf('postern rm ')).toEqual(['postern', 'rm', ''])
  expect(wordsOf('  postern\trm  my')).toEqual(['postern', 'rm', 'my'])
  expect(wordsOf('postern rm my\\ ho')).toEqual(['postern', 'rm', 'my ho'])
  expect(wordsOf('postern rm "my ho')).toEqual(['postern', 'rm', 'my ho'])
  expect(wordsOf("postern rm 'my $HO\\")).toEqual(['postern', 'rm', 'my $HO\\'])
  expect(wordsOf('postern rm "a\\"b\\$c\\d')).toEqual(['postern', 'rm', 'a"b$c\\d'])
  expect(wordsOf('postern rm "" \'\' x"y"z ')).toEqual(['postern', 'rm', '', '', 'xyz', ''])
  expect(wordsOf('postern rm \\')).toEqual(['postern', 'rm', ''])
})

test.each([
  // What is typed, and what bash replaces of it with what.
  ['rm ', 'my host', 'my\\ host'],
  ['rm my', 'my host', 'my\\ host'],
  ['rm "my', 'my host', 'my host'],
  ['rm "a', 'a"$b`!', 'a\\"\\$b\\`"\\!"'],
  ["rm 'a", "a'b", "a'\\''b"],
  ['rm db:ma', 'db:main', 'main'],
  ['rm db\\:ma', 'db:main', 'db\\:main'],
  ['rm "my "ho', 'my host', 'host'],
  ['rm --node=of', '--node=office 2', 'office\\ 2'],
  ['rm --node="of', '--node=office 2', 'office 2'],
  ['rm \\$', "$'; touch x", "\\$\\'\\;\\ touch\\ x"],
  ["rm '$", "$'; touch x", "$'\\''; touch x"],
  ['rm Zürich', 'Zürich Süd', 'Zürich\\ Süd'],
])('%s becomes %s', (line, word, replaced) => {
  expect(replace(line, word)).toBe(replaced)
})

test.each([
  "rm $'",
  'rm $"',
  "rm $'it\\'s' ",
  "rm x$'",
  'rm "$(echo "',
  'rm $(',
  'rm `',
  'rm "`',
  "rm ${x:-'",
  'rm "${x:-"',
])('nothing is completed in %s, where quotes follow other rules', (line) =>
  expect(readBashLine(line)).toBeUndefined(),
)

const HOSTILE = [
  'a b',
  "it's",
  'say "hi"',
  '$HOME',
  '$(touch /tmp/never)',
  '`id`',
  'a\\b',
  'a;b|c&d>e<f',
  '*?[x]{a,b}',
  '~root',
  '#no comment',
  '!history',
  "$\\'; touch /tmp/never #",
  '(sub)',
  'a=b:c',
  '日本語 サービス',
  '\u00a0x',
]

test.each(HOSTILE)('%s is this one word again, however it is begun', (name) => {
  for (const [before, end] of [
    ['', ''],
    ["'", "'"],
    ['"', '"'],
  ] as const) {
    const typed = `${before}${replace(`rm ${before}`, name)}${end}`
    const out = execFileSync('bash', ['--norc', '-c', `printf '<%s>' ${typed}`], { encoding: 'utf8' })
    expect(out).toBe(`<${name}>`)
  }
})
