import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issueLeaf, issueRoot } from '../../../../apps/server/src/certificates/issue.ts'
import { findFreePort } from '../port.ts'
import { must, start } from '../processes/exec.ts'
import { whenStarted } from '../processes/started.ts'

/** Debian's pebble: a certificate authority for tests, which supports all of ACME and is deliberately unreliable. */
export interface Pebble {
  /** The address of its directory. */
  directory: string
  port: number
  /** PEM of the root of its own TLS, and the file with it. */
  caFile: string
  tls: { cert: string; key: string }
  /** PEM of the root of its certificates. */
  root(): Promise<string>
  /** How many orders it accepted, and how many domains it validated. */
  counts(): { orders: number; validated: number }
  close(): Promise<void>
}

export interface PebbleOptions {
  /** The port at which it looks for answers over plain HTTP. */
  httpPort: number
  /** `address:port` of the name server that it asks. */
  nameServer: string
  /** The lifetime of its certificates, in seconds; default: 90 days. */
  life?: number
  /** Accounts need one of these: key id → HMAC key in base64url. */
  bindings?: Record<string, string>
  /** Percentage of good nonces that it refuses; default: 5. */
  badNonces?: number
  /** The prefix to run it in, like `ip netns exec name`; default: this machine. */
  inside?: readonly string[]
  /** Where it listens; default: 127.0.0.1. */
  host?: string
  port?: number
}

const DAYS_90 = 90 * 86_400

export async function startPebble(options: PebbleOptions): Promise<Pebble> {
  const { host = '127.0.0.1', bindings, inside = [], badNonces = 5 } = options
  const dir = mkdtempSync(join(tmpdir(), 'pt-pebble-'))
  // Readable by a server that runs as its own user.
  chmodSync(dir, 0o755)
  const file = (name: string, content: string) => {
    writeFileSync(join(dir, name), content)
    return join(dir, name)
  }
  const own = await issueRoot('Test Root', new Date())
  const tls = await issueLeaf(own, [host, '127.0.0.1', 'localhost'], new Date())
  const [port, managementPort] = [options.port ?? (await findFreePort()), await findFreePort()]
  const caFile = file('ca.pem', own.certificate)
  const pebble = {
    listenAddress: `${host}:${port}`,
    managementListenAddress: `${host}:${managementPort}`,
    certificate: file('tls.pem', tls.certificate),
    privateKey: file('tls.key', tls.privateKey),
    httpPort: options.httpPort,
    tlsPort: 1,
    ocspResponderURL: '',
    certificateValidityPeriod: options.life ?? DAYS_90,
    externalAccountBindingRequired: bindings !== undefined,
    externalAccountMACKeys: bindings ?? {},
  }
  const argv = ['pebble', '-strict', '-config', file('pebble.json', JSON.stringify({ pebble }))]
  const program = start([...inside, ...argv, '-dnsserver', options.nameServer], {
    logFile: join(dir, 'pebble.log'),
    env: { PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: String(badNonces), PEBBLE_AUTHZREUSE: '0' },
  })
  const get = (port: number, path: string) =>
    must([...inside, 'curl', '-sf', '-m', '5', '--cacert', caFile, `https://${host}:${port}/${path}`])
  await whenStarted(program, 'pebble to answer', () => get(port, 'dir'))
  return {
    directory: `https://${host}:${port}/dir`,
    port,
    caFile,
    tls: { cert: tls.certificate, key: tls.privateKey },
    root: () => get(managementPort, 'roots/0'),
    counts() {
      const log = program.output()
      const count = (words: string) => log.split(words).length - 1
      return { orders: count('orders in the db'), validated: count('set VALID by completed challenge') }
    },
    async close() {
      await program.stop()
      rmSync(dir, { recursive: true })
    },
  }
}
