import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const TEXT = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8')

interface NamedTest {
  file: string
  title: string
}

/** Each as `path › title`; without a path it is in the previous file. */
const named: NamedTest[] = []
for (const [, file, title = ''] of TEXT.matchAll(/`([\w./-]+\.test\.tsx?)? ?› ([^`]+)`/g))
  named.push({ file: file ?? named.at(-1)?.file ?? '', title })

/** The lines below a heading, up to the next one. */
const linesBelow = (heading: string) =>
  (TEXT.split(`${heading}\n`)[1] ?? '').split(/\n#/)[0]?.split('\n') ?? []
/** Each entry of a list or of the table of intruders is a promise, and so is each row of the decisions. */
const claims = TEXT.split('\n').filter((line) => /^\| \*\*|^- \*\*|^\| \[\d{4}\]/.test(line))

/** Tests of a whole installation, or of the real HAProxy as a visitor sees it. */
const AT_THE_DOOR = /`(tests\/(attacks|net|deploy)\/|apps\/edge\/[\w./-]+\.net\.test)/

/** Promises that cannot be tested at the public address: their first words, with the reason. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'Importing the root means': 'a browser decides, at names that no installation has',
  'A session ends after thirty days': 'a real installation has the time of its machine',
  "What is in a stream's URL": 'a real installation has the time of its machine',
  'The console on 127.0.0.1': 'it is not at the public address',
  'No answer contains a key': 'each answer of the contract is read',
  'No log line does': 'it is about files of the server',
  'Every change is in the history': 'each endpoint of the contract is called',
  'No secret is in the history': 'it is about files of the server',
  'An entry that was changed, removed': 'it is about files of the server',
  'Nobody pushes what others did': 'it takes a hundred thousand changes',
  'People see only the changes': 'each kind of person asks the server',
  'Passwords are hashed slowly': 'it is about files of the server',
  'After a backup was restored': 'it is about files of the server',
}

test.each(named)('$file › $title exists', ({ file, title }) => {
  const source = readFileSync(join(ROOT, file), 'utf8').replaceAll("\\'", "'")
  const starts = ["'", '"', '`'].map((quote) => `(${quote}${title}${quote}`)
  // A long title is on its own line.
  expect(starts.some((start) => source.replace(/\(\s+/g, '(').includes(start))).toBe(true)
})

test('every promise names a test', () => {
  expect(claims.length).toBeGreaterThan(100)
  expect(claims.filter((claim) => !/\.test\.tsx?/.test(claim))).toEqual([])
})

test.each([
  '### For visitors and their requests',
  '### For services that require sign-in',
  '### For the console and its accounts',
])('what is promised below “%s” is tested at the public address', (heading) => {
  const promises = linesBelow(heading).filter((line) => line.startsWith('- **'))
  expect(promises.length).toBeGreaterThan(5)
  const inside = promises.filter((line) => !AT_THE_DOOR.test(line))
  const isExcused = (line: string) => Object.keys(ELSEWHERE).some((words) => line.startsWith(`- **${words}`))
  expect(inside.filter((line) => !isExcused(line))).toEqual([])
})

/** The same of decisions, by their numbers. */
const DECIDED_ELSEWHERE: Readonly<Record<string, string>> = {
  '0004': 'it is about files of the server',
  '0022': 'a browser decides, at names that no installation has',
  '0035': 'a browser decides, at names that no installation has',
  '0057': 'it is about agents, whose reports the server reads',
  '0069': 'it is about files of the server',
  '0072': 'it is about files of the server, and each endpoint of the contract is called',
}

test('what decisions promise is tested at the public address, apart from the exceptions', () => {
  const inside = claims.filter((line) => line.startsWith('| [') && !AT_THE_DOOR.test(line))
  expect(inside.map((line) => line.slice(3, 7))).toEqual(Object.keys(DECIDED_ELSEWHERE))
})

test('no exception remains for a promise that is tested there, or is gone', () => {
  const used = Object.keys(ELSEWHERE).filter((words) =>
    claims.some((line) => line.startsWith(`- **${words}`) && !AT_THE_DOOR.test(line)),
  )
  expect(used).toEqual(Object.keys(ELSEWHERE))
})

test('every decision is among the promises, or listed as making none', () => {
  const section = linesBelow('## What the decisions promise').join('\n')
  const linked = [...section.matchAll(/\(docs\/decisions\/([\w-]+\.md)\)/g)].map(([, file]) => file)
  expect(linked.sort()).toEqual(readdirSync(join(ROOT, 'docs/decisions')).sort())
})
