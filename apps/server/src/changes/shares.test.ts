import { expect, test } from 'vitest'
import { divide, type Holding } from './shares.ts'

const holding = (share: string, actor_id: number, entries: number): Holding => ({
  ...{ share, actor_kind: 'person', actor_id, entries, bytes: 0 },
})

test.each<[string, [string, number, number][], number, [number, number][]]>([
  ['nothing of nobody', [], 5, []],
  ['nothing where nothing is too much', [['a', 1, 10]], -3, []],
  [
    'only of the largest share',
    [
      ['a', 1, 10],
      ['b', 2, 50],
    ],
    40,
    [[2, 40]],
  ],
  [
    'of the largest ones down to one level',
    [
      ['a', 1, 10],
      ['b', 2, 50],
      ['c', 3, 40],
    ],
    30,
    [
      [2, 20],
      [3, 10],
    ],
  ],
  [
    'in a share of the actor with most of it',
    [
      ['a', 1, 30],
      ['b', 2, 25],
      ['b', 3, 15],
    ],
    8,
    [[2, 8]],
  ],
  [
    'of many in a share what the share has too much',
    [
      ['a', 1, 30],
      ['b', 2, 25],
      ['b', 3, 15],
    ],
    40,
    [
      [1, 15],
      [2, 18],
      [3, 8],
    ],
  ],
  ['all where that is not enough', [['a', 1, 10]], 20, [[1, 10]]],
])('takes %s', (_, all, excess, expected) => {
  const holdings = all.map(([share, id, entries]) => holding(share, id, entries))
  const given = divide(holdings, 'entries', excess)
  expect(given.map(({ holding: of, amount }) => [of.actor_id, amount])).toEqual(expected)
})
