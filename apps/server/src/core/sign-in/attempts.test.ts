import { randomBytes } from 'node:crypto'
import { shared } from '@postern/testkit/shared'
import { beforeEach, describe, expect, test } from 'vitest'
import { openDatabase } from '../../db/open.ts'
import { createSignInAttempts, type SignInAttempts } from './attempts.ts'
import { createFlowTokens } from './flow-tokens.ts'
import type { Provider } from './provider.ts'
import { ProviderError } from './provider-error.ts'

const redirectUrl = 'https://203.0.113.1/.postern/callback'
let asked: number[]
let isRefused: boolean
let attempts: SignInAttempts
const db = shared(
  () => openDatabase(':memory:'),
  (opened) => opened.destroy(),
)

/** A provider that records the rank of each request. */
const provider: Provider = {
  issuer: 'https://issuer.example.com',
  discover: async () => ({ issuer: 'https://issuer.example.com', endpoints: [] }),
  address: async ({ state }) => new URL(`https://issuer.example.com/?state=${encodeURIComponent(state)}`),
  async redeem(_answer, _question, rank = 0) {
    asked.push(rank)
    if (isRefused) throw new ProviderError('refused', 'The code is not good.')
    return { claims: {}, issuer: 'x', subject: null, email: 'ann@example.com', doubt: null }
  },
}

beforeEach(() => {
  asked = []
  isRefused = false
  const clock = () => 1_000_000
  const key = randomBytes(32)
  const flowTokens = createFlowTokens(() => [key], clock)
  attempts = createSignInAttempts({ db, clock, randomBytes, flowTokens, redirectUrl: () => redirectUrl })
})

/** A visitor begins, and comes back with a code. */
async function comeBack(): Promise<string> {
  const { to } = await attempts.begin(provider, 1, { wanted: '/', asksAccount: false, cookies: new Map() })
  return `?code=x&state=${encodeURIComponent(new URL(to).searchParams.get('state') ?? '')}`
}

async function redeem(search: string, address: string): Promise<string | undefined> {
  const end = attempts.findEnd(search)
  return end && (await attempts.redeem(provider, end, address))
}

const fail = async (address: string) =>
  await expect(redeem(await comeBack(), address)).rejects.toThrow(ProviderError)

describe('the provider', () => {
  test('is asked once for each attempt, whoever comes back with it', async () => {
    const search = await comeBack()
    expect(await redeem(search, '198.51.100.1')).toBeTypeOf('string')
    for (const address of ['198.51.100.1', '198.51.100.2'])
      expect(await redeem(search, address)).toBeUndefined()
    expect(asked).toHaveLength(1)
  })

  test('is not asked again after it refused', async () => {
    isRefused = true
    const search = await comeBack()
    await expect(redeem(search, '198.51.100.1')).rejects.toThrow(ProviderError)
    expect(await redeem(search, '198.51.100.1')).toBeUndefined()
    expect(asked).toHaveLength(1)
  })

  test('is asked last for sources with the most failures, and first for all others', async () => {
    isRefused = true
    for (let time = 0; time < 3; time++) await fail('198.51.100.1')
    await fail('198.51.100.2')
    // One /48, each from a /64 of its own.
    for (const address of ['2001:db8:1:1::1', '2001:db8:1:2::1']) await fail(address)
    expect(asked).toEqual([0, 1, 2, 0, 0, 1])
    isRefused = false
    await redeem(await comeBack(), '198.51.100.3')
    await redeem(await comeBack(), '198.51.100.3')
    expect(asked.slice(6)).toEqual([0, 0])
  })
})
