import type { ImageConfig } from './build-image.ts'
import { asList, type ComposeService, environmentOf } from './compose.ts'
import { filterSystemCalls } from './system-calls.ts'
import type { ContainerUser } from './users.ts'

/** The capabilities of a container that drops none. */
const DOCKERS_CAPABILITIES =
  'CHOWN DAC_OVERRIDE FSETID FOWNER MKNOD NET_RAW SETGID SETUID SETFCAP SETPCAP NET_BIND_SERVICE SYS_CHROOT KILL AUDIT_WRITE'.split(
    ' ',
  )
const MASKED = 'acpi asound interrupts kcore keys latency_stats timer_list timer_stats sched_debug scsi'
const READ_ONLY = 'bus fs irq sys sysrq-trigger'

export interface Bind {
  source: string
  destination: string
  readOnly: boolean
}

export interface BundleOptions {
  rootfs: string
  image: ImageConfig
  service: ComposeService
  user: ContainerUser
  env: Record<string, string>
  binds: Bind[]
  /** The path of the network namespace. */
  network: string
  hostname: string
}

/** The runtime's configuration that Docker makes for a service, without cgroups. */
export function renderBundle(options: BundleOptions): object {
  const { image, service, user, rootfs } = options
  const noNewPrivileges = (service.security_opt ?? []).some((each) =>
    /^no-new-privileges([:=]true)?$/.test(each),
  )
  const capabilities = capabilitiesOf(service, user)
  return {
    ociVersion: '1.0.0',
    hostname: options.hostname,
    root: { path: rootfs, readonly: service.read_only ?? false },
    process: {
      terminal: false,
      user,
      cwd: image.WorkingDir || '/',
      args: argvOf(image, service),
      env: listEnvironment(options),
      capabilities,
      noNewPrivileges,
    },
    mounts: mountsOf(options),
    linux: {
      namespaces: [
        ...['pid', 'ipc', 'uts', 'mount'].map((type) => ({ type })),
        { type: 'network', path: options.network },
      ],
      devices: (service.devices ?? []).map(deviceOf),
      sysctl: Object.fromEntries(
        Object.entries(service.sysctls ?? {}).map(([name, value]) => [name, String(value)]),
      ),
      seccomp: filterSystemCalls(capabilities.bounding),
      maskedPaths: [...MASKED.split(' ').map((name) => `/proc/${name}`), '/sys/firmware'],
      readonlyPaths: READ_ONLY.split(' ').map((name) => `/proc/${name}`),
    },
  }
}

export function argvOf(image: ImageConfig, service: ComposeService): string[] {
  const entrypoint = asList(service.entrypoint)
  const command = asList(service.command) ?? (entrypoint ? [] : image.Cmd)
  return [...(entrypoint ?? image.Entrypoint ?? []), ...(command ?? [])]
}

function listEnvironment({ image, service, env }: BundleOptions): string[] {
  const own = Object.fromEntries(
    (image.Env ?? []).map((line) => [line.split('=')[0] ?? '', line.split('=').slice(1).join('=')]),
  )
  return Object.entries({ ...own, ...environmentOf(service), ...env }).map(
    ([name, value]) => `${name}=${value}`,
  )
}

/** Without root nothing is in force, as Docker gives no ambient capabilities. */
function capabilitiesOf({ cap_add = [], cap_drop = [] }: ComposeService, { uid }: ContainerUser) {
  const plain = (names: string[]) => names.map((name) => name.toUpperCase().replace(/^CAP_/, ''))
  const dropped = plain(cap_drop)
  const kept = dropped.includes('ALL') ? [] : DOCKERS_CAPABILITIES.filter((name) => !dropped.includes(name))
  const bounding = [...new Set([...kept, ...plain(cap_add)])].map((name) => `CAP_${name}`)
  const effective = uid === 0 ? bounding : []
  return { bounding, effective, permitted: effective, inheritable: [], ambient: [] }
}

function deviceOf(text: string) {
  const [source, path = source] = text.split(':')
  if (source !== '/dev/net/tun') throw new Error(`the kit knows no device ${source}`)
  return { path, type: 'c', major: 10, minor: 200, fileMode: 0o666, uid: 0, gid: 0 }
}

function mountsOf({ service, binds }: BundleOptions): object[] {
  const own = (destination: string, type: string, ...options: string[]) => ({
    destination,
    type,
    source: type,
    options,
  })
  const quiet = ['nosuid', 'noexec', 'nodev']
  return [
    own('/proc', 'proc', ...quiet),
    own('/dev', 'tmpfs', 'nosuid', 'strictatime', 'mode=755', 'size=65536k'),
    own('/dev/pts', 'devpts', 'nosuid', 'noexec', 'newinstance', 'ptmxmode=0666', 'mode=0620', 'gid=5'),
    own('/dev/shm', 'tmpfs', ...quiet, 'mode=1777', 'size=65536k'),
    own('/dev/mqueue', 'mqueue', ...quiet),
    own('/sys', 'sysfs', ...quiet, 'ro'),
    ...(asList(service.tmpfs) ?? []).map((text) => {
      const [path = '', options = ''] = text.split(':')
      return own(path, 'tmpfs', ...quiet, ...options.split(',').filter(Boolean))
    }),
    ...binds.map(({ source, destination, readOnly }) => ({
      destination,
      type: 'bind',
      source,
      options: ['rbind', readOnly ? 'ro' : 'rw'],
    })),
  ]
}
