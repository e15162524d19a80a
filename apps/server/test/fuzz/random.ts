/** Numbers that look random, always the same for a seed (mulberry32). */
export interface Random {
  /** From 0 to below `end`. */
  below(end: number): number
  pick<T>(list: readonly T[]): T
  shuffle<T>(list: readonly T[]): T[]
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number) => Math.floor(next() * end)
  return {
    below,
    pick(list) {
      const [picked] = list.slice(below(list.length))
      // An index below the length of the list.
      return picked as (typeof list)[number]
    },
    shuffle(list) {
      const left = [...list]
      return list.flatMap(() => left.splice(below(left.length), 1))
    },
  }
}
