import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findDebianMirrors } from '../../../packages/host/src/debian-mirrors.mjs'
import { DEBIAN_13_KEYS } from './debian-13-keys.mjs'

/** The Debian releases whose HAProxy we know, and its version there. */
export const SUITES = { trixie: '3.0', sid: '3.2', experimental: '3.4' }

/** For machines that name no Debian mirror, such as Ubuntu's. */
const MIRRORS = { debian: 'http://deb.debian.org/debian', security: 'http://deb.debian.org/debian-security' }

const MINUTE = 60_000

/** @returns {{ debian: string, security?: string }} */
export const findMirrors = () => findDebianMirrors() ?? MIRRORS

/** Runs a program that must succeed, in English. @returns what it printed */
export async function must(program, args, timeout = MINUTE) {
  const env = { ...process.env, LC_ALL: 'C' }
  const { stdout } = await promisify(execFile)(program, args, { env, timeout, maxBuffer: 1 << 24 })
  return stdout
}

/**
 * apt for packages of another Debian release: it checks signatures and checksums as usual, but with its own sources,
 * lists and package status. It installs nothing on this machine.
 * @param cache a folder for its lists, 10 MB
 */
export async function openApt(suite, cache, mirrors = findMirrors()) {
  for (const name of ['', 'lists', 'lists/partial', 'archives', 'archives/partial'])
    makeFolder(join(cache, name))
  const put = (name, text) => writeReadable(join(cache, name), text)
  // apt reads them as its own user, who may not have access to the clone.
  const keys = put('debian-13-keys.asc', DEBIAN_13_KEYS)
  const architecture = (await must('dpkg', ['--print-architecture'])).trim()
  const options = `[arch=${architecture} signed-by=${keys} target=Packages]`
  const sources = put('sources.list', renderSources(suite, options, mirrors))
  put('status', '')
  const settings = put('apt.conf', renderSettings(cache, sources))
  const target = suite === 'experimental' ? ['-t', suite] : []
  const apt = (...args) => must('apt-get', ['-c', settings, ...args], 5 * MINUTE)
  const archives = join(cache, 'archives')
  return {
    update: () => apt('update'),
    /** The file names of the packages and of everything they depend on. */
    async list(packages) {
      emptyFolder(archives)
      const printed = await apt('install', '-y', '--print-uris', ...target, ...packages)
      return [...printed.matchAll(/^'[^']+' (\S+\.deb) /gm)].map(([, name]) => name)
    },
    /** @returns the folder with the files */
    async download(packages) {
      await apt('install', '-y', '--download-only', ...target, ...packages)
      return archives
    },
    forgetFiles: () => emptyFolder(archives),
  }
}

/** World-readable, whatever the caller's umask. */
export function makeFolder(path) {
  if (mkdirSync(path, { recursive: true })) chmodSync(path, 0o755)
}

function writeReadable(path, content) {
  writeFileSync(path, content)
  chmodSync(path, 0o644)
  return path
}

/** Except what apt itself keeps there. */
function emptyFolder(folder) {
  for (const name of readdirSync(folder)) if (name.endsWith('.deb')) rmSync(join(folder, name))
}

function renderSources(suite, options, { debian, security = MIRRORS.security }) {
  const suites = suite === 'experimental' ? ['sid', suite] : [suite]
  const lines = suites.map((name) => `deb ${options} ${debian} ${name} main\n`)
  if (suite === 'trixie') lines.push(`deb ${options} ${security} trixie-security main\n`)
  return lines.join('')
}

/** Read after the machine's own settings; those for reaching the network, such as proxies, stay. */
function renderSettings(cache, sources) {
  const settings = {
    'Dir::Etc::sourcelist': sources,
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::Etc::preferences': '/dev/null',
    'Dir::Etc::preferencesparts': '/dev/null',
    'Dir::State::lists': join(cache, 'lists'),
    'Dir::State::status': join(cache, 'status'),
    'Dir::State::extended_states': join(cache, 'extended_states'),
    'Dir::Cache': cache,
    'Dir::Cache::archives': join(cache, 'archives'),
    'Dir::Cache::pkgcache': '',
    'Dir::Cache::srcpkgcache': '',
    'APT::Default-Release': '',
    'APT::Install-Recommends': 'false',
    'APT::Get::AllowUnauthenticated': 'false',
    'APT::Keep-Downloaded-Packages': 'true',
    // By default apt carries on with old lists when it cannot reach an archive.
    'APT::Update::Error-Mode': 'any',
    'Acquire::AllowInsecureRepositories': 'false',
    'Acquire::AllowWeakRepositories': 'false',
    'Acquire::AllowDowngradeToInsecureRepositories': 'false',
    'Acquire::Check-Valid-Until': 'true',
    'Acquire::GzipIndexes': 'true',
    'Acquire::Retries': '2',
    'Acquire::http::Timeout': '20',
  }
  const clear = ['Pre-Invoke', 'Post-Invoke', 'Post-Invoke-Success'].map(
    (name) => `#clear APT::Update::${name};\n`,
  )
  return [...clear, ...Object.entries(settings).map(([name, value]) => `${name} "${value}";\n`)].join('')
}
