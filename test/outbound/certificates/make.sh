#!/bin/sh
# Makes the certificates that the tests of src/outbound use. They are committed, so that tests need no openssl; run this to
# make them anew. Nothing outside of those tests trusts them, and the keys guard nothing.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }

# sign NAME SUBJECT_ALT_NAME NOT_BEFORE NOT_AFTER
sign() {
  key "$1.key"
  openssl req -new -key "$1.key" -subj "/CN=test receiver" -out "$work/$1.csr"
  printf 'basicConstraints = critical, CA:FALSE\nextendedKeyUsage = serverAuth\nsubjectAltName = %s\n' "$2" > "$work/$1.ext"
  openssl ca -batch -notext -config "$work/ca.cnf" -extfile "$work/$1.ext" -startdate "$3" -enddate "$4" \
    -in "$work/$1.csr" -out "$1.pem"
}

cat > "$work/ca.cnf" <<END
[ca]
default_ca = test
[test]
database = $work/index.txt
new_certs_dir = $work
rand_serial = yes
default_md = sha256
unique_subject = no
policy = any
certificate = ca.pem
private_key = $work/ca.key
[any]
commonName = supplied
END
: > "$work/index.txt"

key "$work/ca.key"
openssl req -x509 -new -key "$work/ca.key" -subj "/CN=test authority" -days 36500 -out ca.pem \
  -addext 'basicConstraints = critical, CA:TRUE' -addext 'keyUsage = critical, keyCertSign'

here='DNS:localhost, DNS:receiver.test, IP:127.0.0.1'
sign good "$here" 20200101000000Z 21200101000000Z
sign expired "$here" 20200101000000Z 20210101000000Z
sign other-host 'DNS:other.test' 20200101000000Z 21200101000000Z

key self-signed.key
openssl req -x509 -new -key self-signed.key -subj "/CN=test receiver" -days 36500 -out self-signed.pem \
  -addext "subjectAltName = $here"
