import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { must } from '../processes/exec.ts'

/** What a certificate says: what it is for, its names, and its days; fewer than none: they are over. */
interface Leaf {
  use: 'serverAuth' | 'clientAuth'
  /** As OpenSSL writes them: `DNS:…`, `URI:…`. */
  names: string
  days?: number
}

/** A key with its certificate, PEM. */
export interface Proof {
  key: string
  certificate: string
}

/** An authority as installations have one for their servers and edges elsewhere. */
export interface EdgesAuthority {
  /** PEM. */
  root: string
  issue(leaf: Leaf): Promise<Proof>
  /** A certificate for the key of this request. */
  sign(csr: string, leaf: Leaf): Promise<string>
}

export const SERVER_LEAF: Leaf = { use: 'serverAuth', names: 'DNS:server.postern.internal' }
export const edgeLeaf = (id: number): Leaf => ({ use: 'clientAuth', names: `URI:postern:edge:${id}` })

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']

export async function makeEdgesAuthority(): Promise<EdgesAuthority> {
  const key = await inFolder(async (at) => {
    await must([
      'openssl',
      'req',
      '-x509',
      ...NEW_KEY,
      '-keyout',
      at('key'),
      '-out',
      at('crt'),
      '-subj',
      '/CN=Edges',
      '-days',
      '2',
    ])
    return { key: await readFile(at('key'), 'utf8'), root: await readFile(at('crt'), 'utf8') }
  })
  const sign = (csr: string, leaf: Leaf) => signWith(key, csr, leaf)
  return {
    root: key.root,
    sign,
    issue: (leaf) =>
      inFolder(async (at) => {
        await must(['openssl', 'req', ...NEW_KEY, '-keyout', at('key'), '-out', at('csr'), '-subj', '/'])
        const certificate = await sign(await readFile(at('csr'), 'utf8'), leaf)
        return { key: await readFile(at('key'), 'utf8'), certificate }
      }),
  }
}

function signWith(
  by: { key: string; root: string },
  csr: string,
  { use, names, days = 2 }: Leaf,
): Promise<string> {
  return inFolder(async (at) => {
    await writeFile(at('key'), by.key, { mode: 0o600 })
    await writeFile(at('root'), by.root)
    await writeFile(at('csr'), csr)
    await writeFile(
      at('ext'),
      `basicConstraints=critical,CA:FALSE\nextendedKeyUsage=${use}\nsubjectAltName=critical,${names}\n`,
    )
    const signer = ['-CA', at('root'), '-CAkey', at('key'), '-set_serial', String(Date.now())]
    await must([
      'openssl',
      'x509',
      '-req',
      '-in',
      at('csr'),
      ...signer,
      '-days',
      String(days),
      '-extfile',
      at('ext'),
      '-out',
      at('crt'),
    ])
    return await readFile(at('crt'), 'utf8')
  })
}

async function inFolder<T>(work: (at: (name: string) => string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'ea-'))
  try {
    return await work((name) => join(folder, name))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
