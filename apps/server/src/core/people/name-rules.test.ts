import { expect, test } from 'vitest'
import { hasInvisible, isMixed, isReserved, skeletonOf } from './name-rules.ts'

test.each([
  'postern',
  'Postern',
  'Ｐｏｓｔｅｒｎ',
  'the host',
  'The  Host',
  'The-Host.',
  'nobody',
  'Someone else',
  'somebody else',
  'node 7',
  'EDGE 1',
  'node ７',
  'admin (token nightly backup)',
  'admin (Token x)',
  'admin (token backup).',
  'admin （ token backup',
  'admin [tоken x]',
  'роѕтеrn',
  'post\u00adern',
  'the h\u00adost',
  'node 3\u3164',
  'admin (to\u200dken x)',
  'pöstern',
  'ᴘᴏꜱᴛᴇʀɴ',
  'ꓑꓳꓢꓔꓰꓣꓠ',
])('%s is a name of a program', (name) => expect(isReserved(name)).toBe(true))

/** As people write them. */
const NAMES = [
  ...[
    'Ann',
    'ann (work)',
    'ann.lee@example.com',
    'José',
    'Łukasz',
    'Søren',
    'O’Brien',
    "O'Brien",
    'Nguyễn Văn A',
  ],
  ...['Иван', 'Пётр', 'Σωκράτης', 'Հայկ', 'გიორგი', 'محمد', 'مُحَمَّد', 'אבי', 'אָבִי', 'ग़ालिब', 'রবীন্দ্রনাথ', 'ਗੁਰੂ'],
  ...['தமிழ்', 'නිමල්', 'สมชาย', 'ລາວ', 'မောင်', 'ខ្មែរ', 'አበበ', 'བསྟན་འཛིན', 'ᏍᏏᏉᏯ', 'ⵢⵓⴱⴰ'],
  ...[
    '田中',
    '田中さくら',
    'サクラ',
    'ジョー',
    '김철수',
    '金철수',
    '王小明',
    'ㄅㄆㄇ',
    'poster',
    'hostess',
    'node',
    'Ann Other',
  ],
  ...['anna (the token lady', 'Ann 2', 'Иван (дома)', '田中 2'],
]
test.each(NAMES)('%s may be a person', (name) => {
  expect([hasInvisible(name), isReserved(name), isMixed(name)]).toEqual([false, false, false])
})
test('and no two of these are one', () => {
  // Marks that are only spoken, or only spelled, do not tell two people apart.
  const alike = ['مُحَمَّد', 'אָבִי', "O'Brien"]
  const names = NAMES.filter((name) => !alike.includes(name))
  expect(new Set(names.map(skeletonOf)).size).toBe(names.length)
})

test.each([
  'аdmin',
  'αdmin',
  'Ivan Иванов',
  'p\u0585stern',
  'the h\u0585st',
  'ann אבי',
  'Ꭺdmin',
  'Иванα',
  'аբ',
  'ann 田中',
])('%s mixes scripts', (name) => expect(isMixed(name)).toBe(true))

test.each([
  ...[
    'ad\u00admin',
    'ad\u034fmin',
    'admin\ufe0f',
    'admin\u3164',
    'admin\u115f',
    'admin\u1160',
    'admin\uffa0',
  ],
  ...[
    'admin\u2800',
    'admin\u{e0061}',
    'admin\u180e',
    'admin\u17b4',
    'ad\u200dmin',
    'ad\u200cmin',
    'admin\ufff9',
  ],
])('%j hides something, and reads like what is seen of it', (name) => {
  expect(hasInvisible(name)).toBe(true)
  expect(skeletonOf(name)).toBe('admin')
})

test.each([
  ['Admin', 'ａｄｍｉｎ'],
  ['coco', 'сосо'],
  ['pax', 'рах'],
  ['a  b', 'A b'],
  ['admin', 'adm\u0131n'],
  ['admin', 'adm\u026an'],
  ['admin', 'admin\u0332'],
  ['admin', 'ꓮꓓꓟꓲꓠ'],
  ['ann lee', 'ann.lee'],
  ['José', 'Jose'],
  ['Пётр', 'Петр'],
  ['Łukasz', 'Lukasz'],
  ['Søren', 'Soren'],
  ['O’Brien', "O'Brien"],
  ['ग़ालिब', 'गालिब'],
  ['ΣΟΦΟΣ', 'σοφος'],
])('%s and %s are one', (one, other) => expect(skeletonOf(one)).toBe(skeletonOf(other)))

test('names that only begin alike are two, and so are those of other vowels', () => {
  for (const [one, other] of [
    ['ann', 'anna'],
    ['रवि', 'रीवा'],
    ['!!', '??'],
  ] as const)
    expect(skeletonOf(one)).not.toBe(skeletonOf(other))
})
