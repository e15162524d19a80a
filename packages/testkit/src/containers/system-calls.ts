import { readFileSync } from 'node:fs'

/** Podman's list, which comes with buildah. */
const PROFILE = '/usr/share/containers/seccomp.json'

/** Calls that Docker's list allows only with CAP_SYS_ADMIN, but Podman's always. */
const DOCKERS_OWN =
  'clone3 mount mount_setattr move_mount open_tree fsconfig fsmount fsopen fspick pivot_root setns umount umount2 unshare'

interface Condition {
  caps?: string[]
  arches?: string[]
}
interface Rule {
  names: string[]
  action: string
  args: { index: number; value: number; valueTwo: number; op: string }[] | null
  errnoRet?: number
  includes: Condition
  excludes: Condition
}
interface Profile {
  defaultAction: string
  defaultErrnoRet: number
  archMap: { architecture: string; subArchitectures: string[] | null }[]
  syscalls: Rule[]
}

/** The system calls that a container with these capabilities may make, in the runtime's format. */
export function filterSystemCalls(capabilities: readonly string[]): object {
  // The file comes from Debian.
  const profile = JSON.parse(readFileSync(PROFILE, 'utf8')) as Profile
  const [arch, architecture] =
    process.arch === 'arm64' ? ['arm64', 'SCMP_ARCH_AARCH64'] : ['amd64', 'SCMP_ARCH_X86_64']
  const own = profile.archMap.find((each) => each.architecture === architecture)
  const forbidden = capabilities.includes('CAP_SYS_ADMIN') ? [] : DOCKERS_OWN.split(' ')
  const hasOne = (wanted: readonly string[] | undefined, held: readonly string[]) =>
    wanted?.some((each) => held.includes(each))
  const isMeant = ({ includes, excludes }: Rule) =>
    (hasOne(includes.caps, capabilities) ?? true) &&
    (hasOne(includes.arches, [arch]) ?? true) &&
    !hasOne(excludes.caps, capabilities) &&
    !hasOne(excludes.arches, [arch])
  return {
    defaultAction: profile.defaultAction,
    defaultErrnoRet: profile.defaultErrnoRet,
    architectures: [architecture, ...(own?.subArchitectures ?? [])],
    syscalls: profile.syscalls.filter(isMeant).map(({ names, action, args, errnoRet }) => ({
      names: names.filter((name) => !forbidden.includes(name)),
      action,
      ...(args?.length ? { args } : {}),
      ...(errnoRet === undefined ? {} : { errnoRet }),
    })),
  }
}
