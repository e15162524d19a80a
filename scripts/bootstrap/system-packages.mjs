import { accessSync, constants, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { couldHaveOwnHaproxy, hasOwnHaproxy, keepHaproxyNew, provideHaproxy } from './haproxy/provide.mjs'
import { withoutStartingServices } from './quiet-services.mjs'
import {
  describeSecurityUpdates,
  findSecurityUpdates,
  noteSecurityUpdates,
  refreshPackageLists,
} from './security-updates.mjs'
import { attempt, reasonIn, StepError, say } from './step.mjs'

/** For each set: programs or library files, and the Debian packages that provide them. */
const SETS = {
  runtime: {
    wg: 'wireguard-tools',
    nft: 'nftables',
    conntrack: 'conntrack',
    fping: 'fping',
    ip: 'iproute2',
  },
  demo: {
    mosquitto: 'mosquitto',
    'prometheus-node-exporter': 'prometheus-node-exporter',
    curl: 'curl',
    dig: 'bind9-dnsutils',
    dnsmasq: 'dnsmasq-base',
    mosquitto_pub: 'mosquitto-clients',
    ping: 'iputils-ping',
  },
  bench: { wrk: 'wrk', nginx: 'nginx', pebble: 'pebble', dnsmasq: 'dnsmasq-base', curl: 'curl' },
  test: {
    chromium: 'chromium',
    'chromium-headless-shell': 'chromium-headless-shell',
    git: 'git',
    apache2: 'apache2-bin',
    certutil: 'libnss3-tools',
    curl: 'curl',
    openssl: 'openssl',
    gpg: 'gpg',
    jq: 'jq',
    pgrep: 'procps',
    capsh: 'libcap2-bin',
    'systemd-analyze': 'systemd',
    'redis-server': 'redis-server',
    psql: 'postgresql',
    pebble: 'pebble',
    keepalived: 'keepalived',
    prometheus: 'prometheus',
    promtool: 'prometheus',
    sshd: 'openssh-server',
    ssh: 'openssh-client',
  },
  package: { 'dpkg-deb': 'dpkg', strip: 'binutils' },
  deploy: {
    buildah: 'buildah',
    crun: 'crun',
    debootstrap: 'debootstrap',
    go: 'golang-go',
    lintian: 'lintian',
    // The functions and the YAML writer that render a Helm chart.
    '/usr/share/gocode/src/github.com/Masterminds/sprig': 'golang-github-masterminds-sprig-dev',
    '/usr/share/gocode/src/github.com/ghodss/yaml': 'golang-github-ghodss-yaml-dev',
  },
}

/** Packages whose programs Debian would start, and their services. */
const SERVICES = {
  haproxy: 'haproxy',
  keepalived: 'keepalived',
  mosquitto: 'mosquitto',
  nftables: 'nftables',
  nginx: 'nginx',
  'openssh-server': 'ssh',
  postgresql: 'postgresql',
  prometheus: 'prometheus',
  'prometheus-node-exporter': 'prometheus-node-exporter',
  'redis-server': 'redis-server',
}

const PATH = `${process.env.PATH ?? ''}:/usr/sbin:/sbin:/usr/bin:/bin`

export function hasProgram(name, path = PATH) {
  if (name.startsWith('/')) return existsSync(name)
  return path.split(':').some((folder) => {
    try {
      const file = join(folder, name)
      accessSync(file, constants.X_OK)
      return folder !== '' && statSync(file).isFile()
    } catch {
      return false
    }
  })
}

/** The libraries for the machine's architecture are in a folder named after it. */
function hasLibrary(file) {
  const folders = ['/usr/lib', '/usr/lib64', '/usr/local/lib']
  const triplets = readdirSync('/usr/lib').filter((name) => name.includes('-linux-'))
  return [...folders, ...triplets.map((name) => `/usr/lib/${name}`)].some((folder) =>
    existsSync(join(folder, file)),
  )
}

async function kernelHasWireGuard() {
  if (existsSync('/sys/module/wireguard')) return true
  if (!hasProgram('modprobe')) return false
  return (await attempt('modprobe', ['wireguard'], { seconds: 10, env: { PATH } })) === undefined
}

/** Names of the Debian packages that are missing for the given sets. */
async function missingPackages(sets) {
  const wanted = Object.assign({}, ...sets.map((set) => SETS[set]))
  const missing = Object.keys(wanted).filter((program) => !hasProgram(program))
  const packages = missing.map((program) => wanted[program])
  if (sets.includes('runtime') && !hasProgram('wireguard-go') && !(await kernelHasWireGuard()))
    packages.push('wireguard-go')
  if (sets.includes('runtime') && !(await hasOwnHaproxy(APT))) {
    await refreshPackageLists(APT)
    if (await couldHaveOwnHaproxy(APT)) packages.push('haproxy')
  }
  // This repository's Node is linked against it, and a minimal Debian lacks it.
  if (!hasLibrary('libatomic.so.1')) packages.push('libatomic1')
  return packages
}

function isDebian() {
  if (!existsSync('/etc/os-release') || !hasProgram('apt-get')) return false
  return /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(readFileSync('/etc/os-release', 'utf8'))
}

const APT = { DEBIAN_FRONTEND: 'noninteractive', PATH }

async function aptInstall(packages) {
  const args = ['-o', 'DPkg::Lock::Timeout=60', '-o', 'Acquire::Retries=2', 'install', '-y']
  // Old lists name vulnerable versions, or ones that mirrors have removed.
  const update = await refreshPackageLists(APT)
  const failure = await attempt('apt-get', [...args, '--no-install-recommends', ...packages], {
    seconds: 300,
    env: APT,
  })
  if (failure === undefined) return
  const because = reasonIn(update ?? failure)
  throw new StepError(
    `apt-get could not install ${packages.join(' ')}: ${because}. Install them yourself, then try again`,
  )
}

function mayUseApt() {
  return process.platform === 'linux' && process.getuid() === 0 && isDebian()
}

/**
 * While Postern runs: looks for security updates, and fetches a newer HAProxy where that is our job.
 * @returns its version when one was fetched
 */
export async function updateHaproxy() {
  if (!mayUseApt()) return undefined
  try {
    return await keepHaproxyNew(APT)
  } finally {
    await lookForSecurityUpdates()
  }
}

async function lookForSecurityUpdates() {
  await refreshPackageLists(APT)
  const updates = await findSecurityUpdates(APT)
  if (updates) noteSecurityUpdates(updates)
  return updates ?? []
}

/** Reports waiting security updates. It installs none: the machine's owner may have reasons to wait. */
export async function sayWhichUpdatesWait() {
  if (!mayUseApt()) return
  const line = describeSecurityUpdates(await lookForSecurityUpdates())
  if (line) say(line)
}

/**
 * Installs what is missing, as root on Debian or Ubuntu. Elsewhere it does nothing: `npm start` then says what is
 * missing, and the tests fail.
 */
export async function installSystemPackages(sets) {
  if (sets.length === 0 || !mayUseApt()) return
  await installPackages(await missingPackages(sets))
  if (sets.includes('runtime')) await provideHaproxy(APT)
}

async function installPackages(packages) {
  if (packages.length === 0) return
  say(`Installing the system packages ${packages.join(', ')} …`)
  const services = packages.flatMap((name) => SERVICES[name] ?? [])
  await withoutStartingServices(services, () => aptInstall(packages))
}
