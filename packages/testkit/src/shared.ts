import { afterAll, afterEach, beforeAll, beforeEach, onTestFinished } from 'vitest'

type Start<T> = () => T | Promise<T>
type End<T> = (started: T) => unknown
type Before = (work: () => Promise<unknown>) => void

/** Starts something once before the surrounding tests, and ends it after the last. */
export function shared<T extends object>(start: Start<T>, end: End<T> = close): T {
  return standIn(start, end, beforeAll, afterAll)
}

/** Starts something before each of the surrounding tests, and ends it after that test. */
export function fresh<T extends object>(start: Start<T>, end: End<T> = close): T {
  return standIn(start, end, beforeEach, afterEach)
}

/** Starts something in a test, and ends it after that test. */
export async function duringTest<T extends object>(start: Start<T>, end: End<T> = close): Promise<T> {
  const started = await start()
  onTestFinished(async () => void (await end(started)))
  return started
}

/** A stand-in for the thing, which a file can use before it exists. */
function standIn<T extends object>(start: Start<T>, end: End<T>, before: Before, after: Before): T {
  let started: T | undefined
  before(async () => {
    started = await start()
  })
  after(async () => {
    // Undefined if starting failed.
    const last = started
    started = undefined
    if (last) await end(last)
  })
  const get = () => {
    if (started) return started
    throw new Error('this is there only while tests run: use it in a test or a hook')
  }
  // Everything that is read from it comes from the started thing.
  return new Proxy({} as T, {
    get: (_, key) => {
      const value = Reflect.get(get(), key)
      return typeof value === 'function' ? value.bind(get()) : value
    },
    set: (_, key, value) => Reflect.set(get(), key, value),
    has: (_, key) => Reflect.has(get(), key),
    ownKeys: () => Reflect.ownKeys(get()),
    getOwnPropertyDescriptor: (_, key) => {
      const found = Reflect.getOwnPropertyDescriptor(get(), key)
      return found && { ...found, configurable: true }
    },
  })
}

function close(started: object): unknown {
  return 'close' in started && typeof started.close === 'function' ? started.close() : undefined
}
