import { afterAll, afterEach, beforeAll, beforeEach, onTestFinished } from 'vitest'

type Start<T> = () => T | Promise<T>
type End<T> = (started: T) => unknown
type Before = (work: () => Promise<unknown>) => void

/** Starts something before the tests around, once for all of them, and ends it after the last. */
export function shared<T extends object>(start: Start<T>, end: End<T> = close): T {
  return standIn(start, end, beforeAll, afterAll)
}

/** Starts something before each of the tests around, and ends it after that test. */
export function fresh<T extends object>(start: Start<T>, end: End<T> = close): T {
  return standIn(start, end, beforeEach, afterEach)
}

/** Starts something in a test, and ends it after that test. */
export async function duringTest<T extends object>(start: Start<T>, end: End<T> = close): Promise<T> {
  const started = await start()
  onTestFinished(async () => void (await end(started)))
  return started
}

/** What is used in place of the thing, which a file can name before it is there. */
function standIn<T extends object>(start: Start<T>, end: End<T>, before: Before, after: Before): T {
  let started: T | undefined
  before(async () => {
    started = await start()
  })
  after(async () => {
    // None where starting failed.
    const last = started
    started = undefined
    if (last) await end(last)
  })
  const get = () => {
    if (started) return started
    throw new Error('this is there only while tests run: use it in a test or a hook')
  }
  // Everything that it is asked for is the started thing's.
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
