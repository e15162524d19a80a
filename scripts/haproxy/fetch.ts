import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { findDebianMirrors } from '@postern/host/debian-mirrors'
import { must } from '@postern/host/exec'

/** Debian's releases with another HAProxy than this machine's, and its version there. */
export const SUITES = { trixie: '3.0', sid: '3.2', experimental: '3.4' } as const
export type Suite = keyof typeof SUITES

/** Debian's own keys, from its package debian-archive-keyring. */
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'
const MINUTE = 60_000

/**
 * Brings a release's signed HAProxy with the libraries that it needs into `folder`, where it runs with its own loader
 * beside whatever the machine has. Asked again it fetches nothing.
 * @returns the path of the program
 */
export async function fetchHaproxy(suite: Suite, folder: string): Promise<string> {
  const program = join(folder, 'haproxy')
  if (existsSync(program)) return program
  const work = join(folder, 'work')
  rmSync(work, { recursive: true, force: true })
  await downloadPackages(suite, work)
  const root = await unpack(work)
  const libraries = join(folder, 'lib')
  rmSync(libraries, { recursive: true, force: true })
  mkdirSync(libraries, { recursive: true })
  for (const file of await listLibraries(root)) copyFileSync(file, join(libraries, basename(file)))
  const ready = join(work, 'haproxy')
  copyFileSync(join(root, 'usr/sbin/haproxy'), ready)
  await must('patchelf', ['--set-interpreter', join(libraries, basename(findLoader(root))), ready])
  await must('patchelf', ['--force-rpath', '--set-rpath', libraries, ready])
  await must(ready, ['-v'])
  renameSync(ready, program)
  rmSync(work, { recursive: true })
  return program
}

/** By apt's own checks of signatures and sums, with lists and a package status that are nobody else's. */
async function downloadPackages(suite: Suite, work: string): Promise<void> {
  for (const name of ['lists/partial', 'cache/archives/partial', 'etc'])
    mkdirSync(join(work, name), { recursive: true })
  writeFileSync(join(work, 'status'), '')
  writeFileSync(join(work, 'etc/sources.list'), sourcesOf(suite))
  const settings = {
    'Dir::Etc::sourcelist': join(work, 'etc/sources.list'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::Etc::preferences': '/dev/null',
    'Dir::Etc::preferencesparts': '/dev/null',
    'Dir::State::lists': join(work, 'lists'),
    'Dir::State::status': join(work, 'status'),
    'Dir::Cache': join(work, 'cache'),
    'APT::Install-Recommends': 'false',
    'APT::Sandbox::User': 'root',
    'Acquire::Retries': '2',
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  const apt = (...args: string[]) => must('apt-get', [...options, ...args], { timeoutMs: 5 * MINUTE })
  await apt('update')
  const target = suite === 'experimental' ? ['-t', suite] : []
  await apt('install', '-y', '--download-only', ...target, 'haproxy')
}

function sourcesOf(suite: Suite): string {
  const mirrors = findDebianMirrors()
  if (!mirrors) throw new Error('this machine names no Debian mirror in /etc/apt/sources.list')
  const line = (mirror: string, name: string) => `deb [signed-by=${KEYRING}] ${mirror} ${name} main\n`
  const { debian, security } = mirrors
  if (suite !== 'trixie') return line(debian, 'sid') + (suite === 'sid' ? '' : line(debian, suite))
  return line(debian, suite) + (security ? line(security, `${suite}-security`) : '')
}

async function unpack(work: string): Promise<string> {
  const root = join(work, 'root')
  const archives = join(work, 'cache/archives')
  for (const name of readdirSync(archives).filter((file) => file.endsWith('.deb')))
    await must('dpkg-deb', ['--extract', join(archives, name), root], { timeoutMs: MINUTE })
  return root
}

/** The libraries that the program loads, its loader among them. */
async function listLibraries(root: string): Promise<string[]> {
  const loader = findLoader(root)
  const path = join(loader, '..')
  const listed = await must(loader, ['--library-path', path, '--list', join(root, 'usr/sbin/haproxy')])
  return [...listed.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, file = '']) => file)
}

function findLoader(root: string): string {
  const libraries = join(root, 'usr/lib')
  for (const folder of readdirSync(libraries).filter((name) => name.endsWith('-linux-gnu')))
    for (const name of readdirSync(join(libraries, folder)))
      if (/^ld-linux-.*\.so\.\d+$/.test(name)) return join(libraries, folder, name)
  throw new Error('the packages brought no loader')
}
