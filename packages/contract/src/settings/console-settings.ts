import * as z from 'zod/mini'
import { blankable } from '../fields.ts'
import { LIMITS } from '../limits.ts'
import { Environment, type GivenEnvironment, type SettingName } from './settings.ts'

/** The settings that people can change in the console, by the names of their variables. All others need a new start. */
export const CONSOLE_SETTINGS = [
  'POSTERN_PUBLIC_HOST',
  'POSTERN_SECOND_FACTOR',
  'POSTERN_OIDC_ISSUER',
  'POSTERN_OIDC_CLIENT_ID',
  'POSTERN_OIDC_CLIENT_SECRET',
  'POSTERN_ACME_DIRECTORY',
  'POSTERN_ACME_EMAIL',
  'POSTERN_ACME_PROFILE',
  'POSTERN_ACME_EAB_KID',
  'POSTERN_ACME_EAB_HMAC',
  'POSTERN_REQUESTS_DAYS',
  'POSTERN_REQUESTS_MB',
  'POSTERN_REQUESTS_QUERY',
  'POSTERN_REPOSITORY_URL',
  'POSTERN_SPONSOR_URL',
  'POSTERN_CONTACT_URL',
] as const satisfies readonly SettingName[]
export type ConsoleSetting = (typeof CONSOLE_SETTINGS)[number]

export function isConsoleSetting(name: string): name is ConsoleSetting {
  return CONSOLE_SETTINGS.some((own) => own === name)
}

/** Their values never leave the server. */
const SECRET_SETTINGS: readonly SettingName[] = [
  'POSTERN_ADMIN_PASSWORD',
  'POSTERN_OIDC_CLIENT_SECRET',
  'POSTERN_ACME_EAB_HMAC',
  'POSTERN_METRICS_TOKEN',
  'POSTERN_OTLP_HEADERS',
]

export function isSecretSetting(name: SettingName): boolean {
  return SECRET_SETTINGS.includes(name)
}

/** How people sign in. Only a person changes it, and no program. */
const SIGN_IN_SETTINGS: readonly ConsoleSetting[] = [
  'POSTERN_PUBLIC_HOST',
  'POSTERN_SECOND_FACTOR',
  'POSTERN_OIDC_ISSUER',
  'POSTERN_OIDC_CLIENT_ID',
  'POSTERN_OIDC_CLIENT_SECRET',
]

export function isSignInSetting(name: ConsoleSetting): boolean {
  return SIGN_IN_SETTINGS.includes(name)
}

/** Each group comes from one place, all of it: a half of a provider is none. The first three or two belong together. */
const GROUPS: readonly { whole: readonly ConsoleSetting[]; file: SettingName }[] = [
  {
    whole: ['POSTERN_OIDC_ISSUER', 'POSTERN_OIDC_CLIENT_ID', 'POSTERN_OIDC_CLIENT_SECRET'],
    file: 'POSTERN_OIDC_CLIENT_SECRET_FILE',
  },
  { whole: ['POSTERN_ACME_EAB_KID', 'POSTERN_ACME_EAB_HMAC'], file: 'POSTERN_ACME_EAB_HMAC_FILE' },
]

/** The settings that people set together with this one, itself among them. */
export function groupOf(name: ConsoleSetting): readonly ConsoleSetting[] {
  return GROUPS.find(({ whole }) => whole.includes(name))?.whole ?? [name]
}

/** The variable of the environment that decides this setting; undefined: the console does. */
export function findLock(name: SettingName, environment: GivenEnvironment): SettingName | undefined {
  if (environment[name]) return name
  const group = GROUPS.find(({ whole }) => whole.some((own) => own === name))
  return [...(group ? [group.file, ...group.whole] : [])].find((own) => environment[own])
}

/** What is wrong with the text of a setting, in words; undefined: nothing. */
export function findSettingFault(name: SettingName, text: string): string | undefined {
  return Environment.shape[name].safeParse(text).error?.issues[0]?.message
}

const MOST_CHARACTERS = 2000

/** As a person would set the variable. */
const textOf = (name: ConsoleSetting) =>
  blankable(
    z.string().check(z.trim(), z.maxLength(MOST_CHARACTERS), (checked) => {
      const message = findSettingFault(name, checked.value)
      if (message !== undefined) checked.issues.push({ code: 'custom', message, input: checked.value })
    }),
  )

type Texts = { [K in ConsoleSetting]: ReturnType<typeof textOf> }
// One field for each name of the list.
const texts = Object.fromEntries(CONSOLE_SETTINGS.map((name) => [name, textOf(name)])) as Texts

/** The fields that are absent stay as they are; null or "" goes back to the default. */
export const SettingsForm = z.strictObject({
  ...texts,
  /** Those of the former names that the installation keeps; none can be added. */
  formerHosts: z._default(
    z.array(z.string().check(z.maxLength(253))).check(z.maxLength(LIMITS.formerHosts)),
    [],
  ),
  /** The new public name is taken although it may not lead here, or was another's. */
  confirmPublicHost: z._default(z.boolean(), false),
})
export type SettingsForm = z.output<typeof SettingsForm>
export type SettingsFormInput = Partial<z.input<typeof SettingsForm>> & { updated_at?: string }

/** One setting as it is in force. */
export const SettingRecord = z.object({
  name: z.string(),
  /** As a person would set it; null: empty, or a secret. */
  value: z.nullable(z.string()),
  /** What it is when nobody sets it. */
  fallback: z.nullable(z.string()),
  isSecret: z.boolean(),
  /** Whether a secret is there, which nobody sees again. */
  isSet: z.boolean(),
  source: z.enum(['environment', 'console', 'default']),
  /** The variable that decides it; null: none does. */
  lockedBy: z.nullable(z.string()),
  /** Whether the console can change it; the others are read when the server starts. */
  isChangeable: z.boolean(),
  /** Why the value that somebody set in the console is not in force; null: it is. */
  problem: z.nullable(z.string()),
})
export type SettingRecord = z.infer<typeof SettingRecord>

export const InstallationSettings = z.object({
  settings: z.array(SettingRecord),
  formerHosts: z.array(z.string()),
  updated_at: z.string(),
})
export type InstallationSettings = z.infer<typeof InstallationSettings>
