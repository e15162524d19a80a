import { MESSAGES } from '../messages.ts'

/** The messages under a field of a channel, a rule or the quiet hours. */
export const ALERT_MESSAGES = {
  required: MESSAGES.required,
  url: 'Enter a whole address, like https://hooks.example.com/services/abc.',
  plainHttp: 'Use https://, or say that the server is in a private network.',
  mailHost: 'Enter a host name or an IP address.',
  signingSecret: 'Enter whsec_ and then 24 to 64 bytes in base64.',
  token: 'A token has no spaces or line breaks.',
  chatId: 'Enter the number of the chat, like -1001234567890, or @channel.',
  username: 'Control characters are not allowed.',
  secretAgain: 'Enter it again: a stored secret is never sent to another server.',
  minutes: 'Enter 1 to 1440 minutes.',
  fewMinutes: 'Enter 1 to 60 minutes: they are counted together.',
  threshold: 'Enter a whole number from 0 to 1,000,000,000.',
  percent: 'Enter a number from 1 to 99.',
  days: 'Enter a number of days from 1 to 14.',
  share: 'Enter a whole number from 0 to 99.',
  time: 'Enter 0 to 30,000 ms.',
  subject: 'Choose one of a service, a node, a domain and an edge.',
  pick: 'Choose one from the list.',
  onlyHttp: 'TCP and UDP services have no errors and no response times. Choose an HTTP service.',
  clock: 'Enter a time like 22:00.',
  sameClock: 'Choose another time than the start.',
  timeZone: 'Enter a time zone like Europe/Berlin.',
} as const
