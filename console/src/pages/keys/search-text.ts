const SECRET = /^(sk-(?:live|test|admin)-[0-9A-Za-z]{4})[0-9A-Za-z]{5,}([0-9A-Za-z]{4})$/

/** What to search for: a pasted secret becomes its masked form, so that it is in no URL and no log. */
export const searchText = (text: string): string => text.trim().replace(SECRET, '$1…$2')
