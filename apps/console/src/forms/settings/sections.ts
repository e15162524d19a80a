import type { ConsoleSetting, SettingRecord } from '@postern/contract/settings/console-settings'
import type { SettingsSection } from '../../stores/draft.ts'

interface SettingField {
  name: ConsoleSetting
  label: string
  hint: string
  /** By default a text. */
  kind?: 'secret'
  /** The values to choose from, in words. */
  options?: Readonly<Record<string, string>>
}

interface Section {
  title: string
  text: string
  fields: readonly SettingField[]
}

/** The settings that people change in the console, as its page and its forms have them. */
export const SECTIONS: Readonly<Record<SettingsSection, Section>> = {
  name: {
    title: 'Public Name',
    text: 'Where visitors, nodes and you reach this server.',
    fields: [
      {
        name: 'POSTERN_PUBLIC_HOST',
        label: 'Public Name',
        hint: 'A host name that points to this server, or an IP address. Empty: the address of the default route.',
      },
    ],
  },
  signIn: {
    title: 'Sign-In of the Console',
    text: 'What people who sign in here need.',
    fields: [
      {
        name: 'POSTERN_SECOND_FACTOR',
        label: 'Require a Second Factor',
        hint: 'People who have none are led to set one up, and can do nothing else until then.',
        options: { nobody: 'Nobody', administrators: 'Administrators', everybody: 'Everybody' },
      },
    ],
  },
  provider: {
    title: 'Sign-In Provider',
    text: 'Where visitors sign in before they reach a service.',
    fields: [
      {
        name: 'POSTERN_OIDC_ISSUER',
        label: 'Provider',
        hint: 'google, microsoft, github, or the https address of an OpenID provider.',
      },
      { name: 'POSTERN_OIDC_CLIENT_ID', label: 'Client ID', hint: "Postern's ID at that provider." },
      {
        name: 'POSTERN_OIDC_CLIENT_SECRET',
        label: 'Client Secret',
        hint: 'Stored encrypted, and never shown again.',
        kind: 'secret',
      },
    ],
  },
  authority: {
    title: 'Certificate Authority',
    text: "Where domains with Let's Encrypt get their certificates.",
    fields: [
      {
        name: 'POSTERN_ACME_DIRECTORY',
        label: 'ACME Directory',
        hint: 'With another one, certificates are ordered anew there. Those in use stay until then.',
      },
      {
        name: 'POSTERN_ACME_EMAIL',
        label: 'E-Mail Address',
        hint: 'Where the authority may contact you.',
      },
      {
        name: 'POSTERN_ACME_PROFILE',
        label: 'Profile',
        hint: 'Which kind of certificate to order, like shortlived.',
      },
      {
        name: 'POSTERN_ACME_EAB_KID',
        label: 'Account Key ID',
        hint: 'Only for an account that you have there already (external account binding).',
      },
      {
        name: 'POSTERN_ACME_EAB_HMAC',
        label: 'Account HMAC Key',
        hint: 'Stored encrypted, and never shown again.',
        kind: 'secret',
      },
    ],
  },
  requests: {
    title: 'Kept Requests',
    text: 'What the page Requests can look for. Keeping less removes the rest at once.',
    fields: [
      { name: 'POSTERN_REQUESTS_DAYS', label: 'Days', hint: '0 keeps none.' },
      {
        name: 'POSTERN_REQUESTS_MB',
        label: 'Disk Space in MB',
        hint: 'When it is full, the oldest go first.',
      },
      {
        name: 'POSTERN_REQUESTS_QUERY',
        label: 'Queries',
        hint: 'What follows the ? of an address often holds secrets.',
        options: { no: 'Not kept', yes: 'Kept' },
      },
    ],
  },
  links: {
    title: 'Links',
    text: "Where the console's menus lead.",
    fields: [
      { name: 'POSTERN_REPOSITORY_URL', label: 'Repository', hint: 'In the top bar. Empty: no link.' },
      { name: 'POSTERN_SPONSOR_URL', label: 'Sponsor', hint: 'In the help menu. Empty: no link.' },
      {
        name: 'POSTERN_CONTACT_URL',
        label: 'Contact',
        hint: 'In the help menu. Empty: the page of the documentation.',
      },
    ],
  },
}

/** The value of a setting in words. */
export function shownValue({ name, value, isSecret, isSet }: SettingRecord): string {
  if (isSecret) return isSet ? 'Set' : 'Not set'
  if (value === null) return 'None'
  const field = Object.values(SECTIONS)
    .flatMap(({ fields }) => fields)
    .find((each) => each.name === name)
  return field?.options?.[value] ?? value
}
