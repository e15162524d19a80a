import { createHash } from 'node:crypto'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { findDebianMirrors } from '@postern/host/debian-mirrors'
import { must } from '../processes/exec.ts'
import { buildah, ROOT, STORE, tryBuildah } from './store.ts'

/**
 * The base images of our Dockerfiles. No registry is used: each is made here, from this machine's own package
 * sources.
 */
export const DEBIAN = 'docker.io/library/debian:trixie-slim'
/** Debian with Node and npm in /usr/local; ours has the repository's Node and this machine's npm. */
export const NODE = 'docker.io/library/node:26-trixie-slim'

const SUITE = 'trixie'
/** Beyond the smallest Debian. */
const PACKAGES = ['libatomic1']

/**
 * Makes both images, unless this month's exist.
 * @returns the name of Debian's
 */
export async function baseImage(): Promise<string> {
  const key = keyOf([SUITE, PACKAGES, process.version])
  const { stdout } = await tryBuildah(
    'inspect',
    '--type',
    'image',
    '--format',
    '{{.OCIv1.Config.Labels}}',
    NODE,
  )
  if (stdout.includes(key)) return DEBIAN
  const context = mkdtempSync(join(tmpdir(), 'pt-base-'))
  try {
    await makeDebian(context, key)
    await makeNode(context, key)
  } finally {
    rmSync(context, { recursive: true, force: true })
  }
  return DEBIAN
}

/** Security updates come in with a new month. */
function keyOf(what: readonly unknown[]): string {
  const month = new Date().toISOString().slice(0, 7)
  return createHash('sha256')
    .update(JSON.stringify([...what, month]))
    .digest('hex')
    .slice(0, 16)
}

async function makeDebian(context: string, key: string): Promise<void> {
  cpSync(await debianArchive(SUITE, PACKAGES), `${context}/debian.tar`)
  writeFileSync(`${context}/Debian`, `FROM scratch\nADD debian.tar /\nLABEL made="${key}"\nCMD ["bash"]\n`)
  await build(context, 'Debian', DEBIAN)
}

/** The smallest system of a Debian release, made once a month by debootstrap. @returns a tar file */
export async function debianArchive(suite: string, packages: readonly string[]): Promise<string> {
  const archive = `${STORE}/debian-${suite}-${keyOf([suite, packages])}.tar`
  if (existsSync(archive)) return archive
  mkdirSync(STORE, { recursive: true })
  const context = mkdtempSync(join(tmpdir(), 'pt-debian-'))
  try {
    await bootstrapDebian(suite, packages, { archive: `${archive}.next`, context })
    renameSync(`${archive}.next`, archive)
    return archive
  } finally {
    rmSync(context, { recursive: true, force: true })
  }
}

async function bootstrapDebian(
  suite: string,
  packages: readonly string[],
  { archive, context }: { archive: string; context: string },
): Promise<void> {
  const root = `${context}/root`
  const sources = readSources(suite)
  const include = `--include=${packages.join(',')}`
  await must(['debootstrap', '--variant=minbase', include, suite, root, sources.debian], {
    timeoutMs: 600_000,
  })
  writeFileSync(`${root}/etc/apt/sources.list`, sources.list)
  // This machine's: how it reaches its sources.
  cpSync('/etc/apt/apt.conf.d', `${root}/etc/apt/apt.conf.d`, { recursive: true, force: false })
  for (const dir of ['var/cache/apt/archives', 'var/lib/apt/lists'])
    for (const name of readdirSync(`${root}/${dir}`)) rmSync(`${root}/${dir}/${name}`, { recursive: true })
  await must(['tar', '-C', root, '-cf', archive, '.'])
}

/** Where this machine takes its packages from. */
function readSources(suite: string): { debian: string; list: string } {
  const mirrors = findDebianMirrors()
  if (!mirrors)
    throw new Error('this machine names no Debian mirror in /etc/apt: a base image cannot be made')
  const { debian, security } = mirrors
  const lines = [`deb ${debian} ${suite} main`, `deb ${debian} ${suite}-updates main`]
  if (security) lines.push(`deb ${security} ${suite}-security main`)
  return { debian, list: `${lines.join('\n')}\n` }
}

async function makeNode(context: string, key: string): Promise<void> {
  const npm = (await must(['sh', '-c', 'command -v npm'])).trim()
  copyFileSync(`${ROOT}node_modules/.bin/node`, `${context}/node`)
  cpSync(dirname(dirname(realpathSync(npm))), `${context}/npm`, { recursive: true })
  const lines = [
    `FROM ${DEBIAN}`,
    'COPY node /usr/local/bin/node',
    'COPY npm /usr/local/lib/node_modules/npm',
    'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm',
    `LABEL made="${key}"`,
  ]
  writeFileSync(`${context}/Node`, `${lines.join('\n')}\n`)
  await build(context, 'Node', NODE)
}

const build = (context: string, file: string, tag: string) =>
  buildah(
    'build',
    '--isolation=chroot',
    '--pull-never',
    '--file',
    `${context}/${file}`,
    '--tag',
    tag,
    context,
  )
