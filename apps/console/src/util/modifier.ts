/** The key of commands, as this machine's keyboard has it. */
export const MODIFIER = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '\u2318' : 'Ctrl'
