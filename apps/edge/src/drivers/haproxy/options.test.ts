import { expect, test } from 'vitest'
import { sharePorts } from './options.ts'

// How many connections of TCP services a limit of open files allows.
test.each([
  ['20,000', 3_600, 2_880, 720],
  ['70,000', 13_100, 10_480, 2_620],
  ['524,288', 99_600, 50_000, 49_600],
  ['next to no', 0, 100, 25],
])('%s files are shared among plain visitors and those whose TLS ends here', (_, possible, all, tls) => {
  expect(sharePorts(possible)).toEqual({ portConnections: all, tlsPortConnections: tls })
})
