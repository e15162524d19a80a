import { DEVICE } from '@postern/contract/sign-in/device'
import type { WiderNetwork } from '../accounts/sources.ts'
import { UnavailableError } from '../errors.ts'
import { hashToken } from '../secrets/secrets.ts'

/** Requests that wait at a time: beyond these, the network with most of them makes room. */
const MOST_WAITING = 1000
export const MOST_PER_SOURCE = 5
/** Of one customer of a provider, as for sign-ins (`accounts/login-limits.ts`). */
const MOST_PER_WIDER_NETWORK = { 56: 20, 48: 40 } as const
/** Polls that come this much early count as in time: timers and networks are no exacter. */
const EARLY_MS = 300

/** A command that waits for a person's answer. */
export interface Waiting {
  client: string
  address: string | null
  /** The network of `address`, and those around it, the widest last; see `accounts/sources.ts`. */
  network: string
  wider: WiderNetwork[]
  /** ms since the epoch. */
  askedAt: number
  endsAt: number
}

type Networks = Pick<Waiting, 'network' | 'wider'>

interface Device extends Waiting {
  userHash: string
  /** `deciding`: a person's answer is being carried out, and no other one counts. */
  state: 'pending' | 'deciding' | 'denied' | { token: string }
  /** In seconds. */
  interval: number
  polledAt: number | null
}

/** How far a request is, in the terms of the contract. */
type Progress =
  | { state: 'pending' | 'denied' | 'over' }
  | { state: 'slow_down'; interval: number }
  | { state: 'approved'; token: string }

/**
 * Commands that wait for a person's answer, in memory: they end with a restart. Of both codes only hashes are kept. A
 * token that was given stays here until the command fetches it, or until its time is over.
 */
export interface Devices {
  /** @throws UnavailableError when too many wait */
  begin(asked: Pick<Waiting, 'client' | 'address' | 'network' | 'wider'>): {
    deviceCode: string
    userCode: string
  }
  poll(deviceCode: string): Progress
  /** What waits for an answer with this code. */
  find(userCode: string): Waiting | undefined
  /**
   * Makes this answer the only one.
   * @returns what ends it with a token, with a refusal, or not at all; undefined: nothing waits
   */
  take(userCode: string): { give(token: string): void; deny(): void; release(): void } | undefined
}

export function createDevices(clock: () => number, randomBytes: (count: number) => Buffer): Devices {
  /** By the hash of the device code, the oldest first. */
  const devices = new Map<string, Device>()
  const sweep = () => {
    // All have the same time, so the first that has not ended has none before it.
    for (const [hash, { endsAt }] of devices) {
      if (endsAt > clock()) break
      devices.delete(hash)
    }
  }
  const findPending = (userCode: string) => {
    sweep()
    const userHash = hashToken(userCode)
    return [...devices.values()].find((each) => each.userHash === userHash && each.state === 'pending')
  }
  const hasTooMany = ({ network, wider }: Networks) => {
    const all = [...devices.values()]
    if (all.filter((each) => each.network === network).length >= MOST_PER_SOURCE) return true
    return wider.some(({ prefix, network }) => {
      const isWithin = (each: Device) =>
        each.wider.some((one) => one.prefix === prefix && one.network === network)
      return all.filter(isWithin).length >= MOST_PER_WIDER_NETWORK[prefix]
    })
  }
  const makeRoom = (asking: Networks) => {
    const isFull = devices.size >= MOST_WAITING
    const oldest = isFull ? findToLetGo(devices, asking) : undefined
    if (hasTooMany(asking) || (isFull && oldest === undefined))
      throw new UnavailableError('Too many commands wait to be signed in. Try again in a few minutes')
    if (oldest !== undefined) devices.delete(oldest)
  }
  return {
    begin(asked) {
      sweep()
      makeRoom(asked)
      const deviceCode = randomBytes(32).toString('base64url')
      const userCode = makeUserCode(randomBytes)
      devices.set(hashToken(deviceCode), {
        ...asked,
        userHash: hashToken(userCode),
        askedAt: clock(),
        endsAt: clock() + DEVICE.seconds * 1000,
        state: 'pending',
        interval: DEVICE.interval,
        polledAt: null,
      })
      return { deviceCode, userCode }
    },

    poll(deviceCode) {
      sweep()
      const hash = hashToken(deviceCode)
      const device = devices.get(hash)
      if (!device) return { state: 'over' }
      const { state, polledAt } = device
      const isEarly = polledAt !== null && clock() - polledAt < device.interval * 1000 - EARLY_MS
      device.polledAt = clock()
      if (isEarly) {
        device.interval += DEVICE.slowDown
        return { state: 'slow_down', interval: device.interval }
      }
      if (state === 'pending' || state === 'deciding') return { state: 'pending' }
      devices.delete(hash)
      return state === 'denied' ? { state } : { state: 'approved', token: state.token }
    },

    find: findPending,

    take(userCode) {
      const device = findPending(userCode)
      if (!device) return undefined
      device.state = 'deciding'
      return {
        give: (token) => {
          device.state = { token }
        },
        deny: () => {
          device.state = 'denied'
        },
        release: () => {
          device.state = 'pending'
        },
      }
    },
  }
}

/**
 * What makes room for one more when all is full, so that a flood is at its own cost: the oldest of the network that has
 * most, with nobody's answer yet.
 * @returns its hash; undefined when no network has more than the new one's would have
 */
function findToLetGo(devices: ReadonlyMap<string, Device>, asking: Networks): string | undefined {
  const byNetwork = new Map<string, string[]>()
  for (const [hash, device] of devices) {
    if (device.state !== 'pending') continue
    const network = widestOf(device)
    byNetwork.set(network, [...(byNetwork.get(network) ?? []), hash])
  }
  const own = byNetwork.get(widestOf(asking))?.length ?? 0
  const most = [...byNetwork.values()].reduce(
    (found, each) => (each.length > found.length ? each : found),
    [],
  )
  return most.length > own + 1 ? most[0] : undefined
}

const widestOf = ({ network, wider }: Networks): string => wider.at(-1)?.network ?? network

/** Some 34 bits. Two that wait at once have the same one in a case of millions, and then the older one counts. */
function makeUserCode(randomBytes: (count: number) => Buffer): string {
  const { letters, length } = DEVICE
  // Bytes beyond the last whole round of letters would make the first ones likelier.
  const fair = 256 - (256 % letters.length)
  const found: string[] = []
  while (found.length < length) {
    const usable = [...randomBytes(2 * length)].filter((byte) => byte < fair)
    found.push(...usable.map((byte) => letters.charAt(byte % letters.length)))
  }
  return found.slice(0, length).join('')
}
