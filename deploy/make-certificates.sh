#!/bin/sh
# Makes a private CA, one certificate for each end of the gRPC link, and a self-signed front certificate:
#   DIRECTORY/ca/            the CA's key; belongs on no machine that runs a plane, is mounted nowhere
#   DIRECTORY/controlplane/  ca.crt tls.crt tls.key: serves the link, cannot connect to one
#   DIRECTORY/dataplane/     ca.crt tls.crt tls.key: connects to the link, cannot serve one
#   DIRECTORY/front/         tls.crt tls.key: what agents and operators see
# usage: make-certificates.sh DIRECTORY [front host name [name of a control plane]…]
#
# Made by root, each key belongs to the user of its image and nobody else reads it. Anybody else cannot give files away:
# then the keys are readable in a directory that only their maker can enter; a container sees its own folder of it.
set -eu
dir=$1
host=${2:-localhost}
[ $# -ge 2 ] && shift
shift
plane_user=1000 # `node` in the images of the planes
front_user=101  # `nginx` in nginx's image

[ -e "$dir/ca/ca.key" ] && { echo "$dir/ca/ca.key exists: nothing was changed" >&2; exit 1; }
umask 077
mkdir -p "$dir"
chmod 0700 "$dir"
cd "$dir"
mkdir ca controlplane dataplane front

new_key="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
openssl req -x509 $new_key -days 3650 -subj "/CN=gateway link CA" -addext "basicConstraints=critical,CA:TRUE,pathlen:0" \
  -addext "keyUsage=critical,keyCertSign,cRLSign" -keyout ca/ca.key -out ca/ca.crt 2>/dev/null

# issue PLANE PURPOSE NAMES
issue() {
  openssl req $new_key -subj "/CN=$1" -keyout "$1/tls.key" -out "$1/csr" 2>/dev/null
  printf 'basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=%s\nsubjectAltName=%s\n' \
    "$2" "$3" >"$1/ext"
  openssl x509 -req -in "$1/csr" -CA ca/ca.crt -CAkey ca/ca.key -CAcreateserial -days 825 -extfile "$1/ext" \
    -out "$1/tls.crt" 2>/dev/null
  rm "$1/csr" "$1/ext"
  cp ca/ca.crt "$1/ca.crt"
}
names=DNS:controlplane,DNS:controlplane-grpc,DNS:localhost,IP:127.0.0.1
for name; do names=$names,DNS:$name; done
issue controlplane serverAuth "$names"
issue dataplane clientAuth DNS:dataplane
openssl req -x509 $new_key -days 365 -subj "/CN=$host" -addext "subjectAltName=DNS:$host" \
  -addext "extendedKeyUsage=serverAuth" -keyout front/tls.key -out front/tls.crt 2>/dev/null

chmod 0755 controlplane dataplane front
chmod 0644 ./*/*.crt
if [ "$(id -u)" -eq 0 ]; then
  chmod 0400 ./*/*.key
  chown "$plane_user" controlplane/tls.key dataplane/tls.key
  chown "$front_user" front/tls.key
else
  chmod 0644 controlplane/tls.key dataplane/tls.key front/tls.key
fi
echo "written: $dir"
